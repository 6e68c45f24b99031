import type { Loss } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import type { ResponseLosses } from '#conversion/index.ts';
import type { AttemptRecord, PassedOver, StateRecord } from '#usage/index.ts';

/** What is known about a request that was sent upstream: for the row and the response's headers. */
export interface SentRequest {
  /** The channel's name; null if no channel responded, so that the row names none. */
  readonly channel: string | null;
  readonly upstreamModel: string | null;
  /** The ids of the rewrites in this request. */
  readonly rewrites: readonly string[];
  /** Losses in converting the request. */
  readonly losses: readonly Loss[];
  /** Losses in converting the response, known at its end; null if nothing is converted. */
  readonly responseLosses: Pick<ResponseLosses, 'all'> | null;
  /** The ids in the response so far that its upstream keeps; null if there are none. */
  upstreamState: StateRecord | null;
  /** Milliseconds from the exchange's arrival to the first content; null if there was none. */
  ttftMs: number | null;
}

/** A request that is sent to a route as it came. */
export function sentTo({ channel, upstreamModel }: Route): SentRequest {
  return {
    channel: channel.name,
    upstreamModel,
    rewrites: [],
    losses: [],
    responseLosses: null,
    upstreamState: null,
    ttftMs: null,
  };
}

/** What happened to an exchange at the upstreams. */
export interface Tried<Sent extends SentRequest = SentRequest> {
  /** One for each request that was sent, in order. */
  readonly attempts: readonly AttemptRecord[];
  /** The last request that was sent; null if there was none. */
  readonly sent: Sent | null;
  /** Absent if no channel was passed over. */
  readonly passed?: readonly PassedOver[];
}

/** For an exchange that ended before any upstream was asked. */
export const nothingTried: Tried<never> = Object.freeze({
  attempts: Object.freeze([]),
  sent: null,
});
