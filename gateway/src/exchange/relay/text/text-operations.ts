import type { TextOperationName } from '#canonical/index.ts';
import type { Operation } from '../exchange/operation.ts';
import { authorizeNames } from '../exchange/state/authorize-names.ts';
import { boundText } from './asked-bounds.ts';
import { answerCount, createTokenCounting } from './counts/count-tokens.ts';
import { compactingRoutes, findRoutes } from './find-routes.ts';
import type { TextInput, TextParts } from './input.ts';
import { openText } from './open-text.ts';
import type { CheckedText, PreparedText } from './prepared.ts';
import { answerText } from './text-plan.ts';

type TextOperation = Operation<TextInput, CheckedText, PreparedText>;

/** Responses, token counts and compactions in the text protocols. They differ in cost and in who serves them. */
export function createTextOperations(
  parts: TextParts,
): Readonly<Record<TextOperationName, TextOperation>> {
  const counting = createTokenCounting(parts);
  const all: Omit<TextOperation, 'isFree' | 'mayStream' | 'answer'> = {
    modelType: 'chat',
    open: (input) => openText(parts, input),
    authorize: ({ input }, checked) => authorizeNames(parts, input, checked, checked.request.named),
    bound: ({ input }, checked, rates) => boundText(input, checked, rates),
    prepare: (exchange, checked) => findRoutes(parts, exchange, checked),
  };
  const charged = { ...all, isFree: false };
  return {
    generate: {
      ...charged,
      mayStream: true,
      answer: (exchange, prepared) => answerText(parts, exchange, prepared),
    },
    'count-tokens': {
      ...all,
      isFree: true,
      mayStream: false,
      answer: (exchange, prepared) => answerCount(parts, exchange, prepared, counting),
    },
    compact: {
      ...charged,
      mayStream: false,
      prepare: (exchange, checked) => compactingRoutes(findRoutes(parts, exchange, checked)),
      answer: (exchange, prepared) => answerText(parts, exchange, prepared),
    },
  };
}
