import type { ExchangeState } from '../exchange-state.ts';
import type { RelayParts } from '../parts.ts';
import type { Prepared } from '../prepare.ts';
import type { StreamAttempt } from '../streams/stream-attempt.ts';
import type { StreamSink } from '../streams/stream-sink.ts';
import type { Failure } from './final-error.ts';
import type { RouteConversions } from './route-conversions.ts';

/** Requests that one exchange may send upstream. */
export const maxTries = 3;

/** The stream under way, so that the client's leaving can reach it. */
export interface StreamSlot {
  readonly sink: StreamSink;
  attempt: StreamAttempt | null;
}

/** The tries of one exchange: what they share, and what has come of them so far. */
export interface Tries {
  readonly parts: RelayParts;
  readonly state: ExchangeState;
  readonly prepared: Prepared;
  /** Null for a non-streamed exchange. */
  readonly slot: StreamSlot | null;
  /** Null until a channel of another protocol has its turn. */
  conversions: RouteConversions | null;
  /** Requests sent upstream, the second one on a stale connection included. */
  sent: number;
  /** Of these, the ones whose fate is unknown. */
  uncertain: number;
  readonly failures: Failure[];
}
