import type { Protocol } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import type { TextInput } from './input.ts';
import { LargeResponses } from './large-response.ts';
import type { TextParts } from './parts.ts';
import type { PreparedText } from './prepared.ts';
import { createTakeGiven } from './state/given-names.ts';
import type { TextRequest } from './route-request.ts';
import { echoOf } from './text-sender.ts';

/**
 * What reads the response to one request.
 * @param request is not kept.
 */
export function readingOf(
  parts: TextParts,
  input: TextInput,
  prepared: PreparedText,
  { route, converted, patched, sent, place }: TextRequest,
  { secret }: ChannelLease,
) {
  const { bodies, protocols } = parts;
  const spoken = converted?.protocol ?? input.protocol;
  const echo = echoOf(prepared.request.model, route, patched);
  const { keyId } = input.caller;
  const native = protocols[spoken];
  const protocol: Pick<Protocol, 'readResponse' | 'createStreamTap'> =
    converted?.reader ??
    (place === null ? native : parts.converter.rememberReasoning(native, place));
  return {
    protocol,
    wire: protocols[spoken],
    echo,
    large: new LargeResponses({ bodies, keyId, upstream: spoken, echo, converted }),
    // The ids in a converted response are the gateway's; no upstream knows them.
    takeGiven:
      converted === null ? createTakeGiven(parts, input, prepared, route, secret, sent) : null,
    onDefect: (error: unknown) => parts.onUnexpectedError(error, input.id),
  };
}
