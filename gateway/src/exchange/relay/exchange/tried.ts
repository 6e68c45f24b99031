import type { Loss } from '#canonical/index.ts';
import type { ResponseLosses } from '#conversion/index.ts';
import type { AttemptRecord, StateRecord } from '#usage/index.ts';

/** What is known of a request that was sent upstream, for the exchange's row and the headers of its response. */
export interface SentRequest {
  /** Name of the channel; null when nobody answered, so that the row names none. */
  readonly channel: string | null;
  readonly upstreamModel: string | null;
  /** Ids of the declared rewrites that were made for it. */
  readonly rewrites: readonly string[];
  /** Of converting the request. */
  readonly losses: readonly Loss[];
  /** Of converting the response, known when that is over; null when nothing is converted. */
  readonly responseLosses: Pick<ResponseLosses, 'all'> | null;
  /** What the response has named so far that its upstream keeps; null when it has named nothing. */
  upstreamState: StateRecord | null;
  /** Milliseconds from the exchange's arrival to the first content; null when none came. */
  ttftMs: number | null;
}

/** What became of an exchange at its upstreams. */
export interface Tried<Sent extends SentRequest = SentRequest> {
  /** One for each request that was sent, in order. */
  readonly attempts: readonly AttemptRecord[];
  /** The last of them; null when there was none. */
  readonly sent: Sent | null;
}

/** Of an exchange that ended before any upstream was asked. */
export const nothingTried: Tried<never> = Object.freeze({
  attempts: Object.freeze([]),
  sent: null,
});
