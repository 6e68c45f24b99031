import type { RequestFacts } from '#body-work/index.ts';
import type { TextOperationName } from '#canonical/index.ts';
import type { OpenedRequest as WireOpened, Protocol, WireRequest } from '#protocols/index.ts';
import type { Exchange } from '../exchange.ts';
import { namedRoutes } from '../admission/find-model.ts';
import type { OpenedRequest, Operation, ResolvedModel } from '../operation.ts';
import { authorizeNames } from '../admission/named-state.ts';
import { boundText, findCompactingRoutes, findRoutes } from './admit-text.ts';
import { createCountResponder } from './counts/count-tokens.ts';
import type { TextInput, TextParts } from './input.ts';
import { mayNameItems, putItems, withItems } from './items/named-items.ts';
import { type LargeBody, largeBodyOf } from './large-body.ts';
import type { CheckedText, PreparedText } from './prepared.ts';
import { termsSent } from './surcharges.ts';
import { answerText } from './text-plan.ts';

type TextOperation = Operation<TextInput, CheckedText, PreparedText, TextParts>;

const sharedSteps = {
  modelType: 'chat',
  open: openText,
  authorize: authorizeNames<CheckedText>,
  bound: boundText,
  prepare: findRoutes,
} as const;

/** Responses, token counts and compactions in the text protocols. They differ in cost and in who serves them. */
export function createTextOperations(
  parts: TextParts,
): Readonly<Record<TextOperationName, TextOperation>> {
  return {
    generate: { ...sharedSteps, isFree: false, mayStream: true, answer: answerText },
    'count-tokens': {
      ...sharedSteps,
      isFree: true,
      mayStream: false,
      answer: createCountResponder(parts),
    },
    compact: {
      ...sharedSteps,
      isFree: false,
      mayStream: false,
      prepare: findCompactingRoutes,
      answer: answerText,
    },
  };
}

/**
 * Reads a text request up to its model: here, or in a thread if it is large.
 * @throws GatewayError, ClientGone
 */
export function openText(
  parts: Pick<TextParts, 'protocols' | 'bodies' | 'ticker' | 'items'>,
  input: TextInput,
): OpenedRequest<TextInput, CheckedText> | Promise<OpenedRequest<TextInput, CheckedText>> {
  const large = largeBodyOf(parts, input);
  if (large?.isRead) return openLarge(parts, input, large);
  const protocol = parts.protocols[input.protocol];
  const { operation, pathModel, pathStream } = input;
  const path = { operation, model: pathModel, stream: pathStream };
  const openedRequest = protocol.openRequest(input.body, path, input.memory);
  if (mayNameItems(input)) return openNaming(parts, input, protocol, openedRequest);
  return {
    model: openedRequest.model,
    check: (exchange, resolvedModel) =>
      checkText(exchange, resolvedModel, protocol.readRequest(openedRequest), large, null),
  };
}

async function openNaming(
  parts: Pick<TextParts, 'bodies' | 'ticker' | 'items'>,
  input: TextInput,
  protocol: Protocol,
  namingRequest: WireOpened,
): Promise<OpenedRequest<TextInput, CheckedText>> {
  const { openedRequest, refusal } = await withItems(parts.items, protocol, input, namingRequest);
  return {
    model: openedRequest.model,
    check(exchange, resolvedModel) {
      if (refusal !== null) throw refusal;
      const large = largeBodyOf(parts, input, false);
      return checkText(exchange, resolvedModel, protocol.readRequest(openedRequest), large, null);
    },
  };
}

async function openLarge(
  parts: Pick<TextParts, 'items'>,
  input: TextInput,
  large: LargeBody,
): Promise<OpenedRequest<TextInput, CheckedText>> {
  const refusal = mayNameItems(input) ? await putItems(parts.items, input, large) : null;
  const { model, read } = await large.open();
  return {
    model,
    check(exchange, resolvedModel) {
      if (refusal !== null) throw refusal;
      const { request, facts } = read();
      return checkText(exchange, resolvedModel, request, large, facts);
    },
  };
}

/** @throws GatewayError for an extra that costs money at the upstream and has no price. */
function checkText(
  exchange: Exchange<TextInput>,
  resolvedModel: ResolvedModel,
  request: WireRequest,
  large: LargeBody | null,
  facts: RequestFacts | null,
): CheckedText {
  const { input } = exchange;
  exchange.stream = request.stream;
  const routes = () => namedRoutes(input, resolvedModel);
  const terms = termsSent(request, resolvedModel.model, input, routes);
  const { namedStates } = request;
  return { resolvedModel, request, terms, large, facts, namedStates, names: null };
}
