import type { Protocol } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { clientDeadline, totalDeadline } from '../attempts/deadlines.ts';
import type { TextInput } from './input.ts';
import { LargeResponses } from './large-response.ts';
import type { TextParts } from './parts.ts';
import type { PreparedText } from './prepared.ts';
import { createTakeGiven } from './state/given-names.ts';
import type { TextRequest } from './route-request.ts';
import { echoOf } from './text-sender.ts';

/**
 * The options that both kinds of attempts share.
 * @param request is not kept.
 */
export function attemptOptions(
  parts: TextParts,
  input: TextInput,
  prepared: PreparedText,
  { route, converted, patched, sent, place }: TextRequest,
  { secret }: ChannelLease,
) {
  const { bodies, protocols, upstream, ticker, timeouts } = parts;
  const spoken = converted?.protocol ?? input.protocol;
  const echo = echoOf(prepared.request.model, route, patched);
  const { keyId } = input.caller;
  const native = protocols[spoken];
  const protocol: Pick<Protocol, 'readResponse' | 'createStreamTap'> =
    converted?.reader ??
    (place === null ? native : parts.converter.rememberReasoning(native, place));
  return {
    upstream,
    protocol,
    wire: protocols[spoken],
    echo,
    large: new LargeResponses({ bodies, keyId, upstream: spoken, echo, converted }),
    // The ids in a converted response are the gateway's; no upstream knows them.
    takeGiven:
      converted === null ? createTakeGiven(parts, input, prepared, route, secret, sent) : null,
    ticker,
    deadline: totalDeadline(input, route.channel, timeouts),
    clientDeadline: clientDeadline(input),
    onDefect: (error: unknown) => parts.onUnexpectedError(error, input.id),
  };
}
