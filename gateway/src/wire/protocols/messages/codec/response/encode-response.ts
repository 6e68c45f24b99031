import type { GenerationResponse, TokenUsage } from '#canonical/index.ts';
import type { ResponseContext } from '../../../codec.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodeUsage } from './encode-usage.ts';
import { encodeFinish } from './finish.ts';
import { callId, messageHead } from './message-frame.ts';
import { encodeOutput } from './output-content.ts';

/** Encodes a complete message from the first candidate, since this protocol has room for one. */
export function encodeResponse(
  response: GenerationResponse,
  usage: TokenUsage | null,
  context: ResponseContext,
): JsonRecord {
  const [candidate] = response.candidates;
  let calls = 0;
  const content = (candidate?.blocks ?? []).flatMap((block) => {
    const mintId = (): string => callId(context, calls);
    const wire = encodeOutput(block, mintId);
    if (wire?.['type'] === 'tool_use') calls += 1;
    return wire ?? [];
  });
  return {
    ...messageHead(context),
    content,
    ...encodeFinish(candidate?.finish ?? { reason: 'other' }, calls > 0),
    usage: encodeUsage(usage, context.inputTokens),
  };
}
