import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { AttemptRecord } from '#usage/index.ts';
import type { ExchangeInput } from '../exchange/input.ts';
import type { SentRequest } from '../exchange/tried.ts';
import type { Failure } from './final-error.ts';
import type { AttemptOutcome } from './outcome.ts';
import type { AttemptParts } from './parts.ts';
import type { Sender } from './sender.ts';

/** Requests that one exchange may send upstream. */
export const maxTries = 3;

/** What of an exchange's input decides how it is tried. */
export type TriedInput = Pick<ExchangeInput, 'client' | 'headers' | 'startedAt'>;

/** The tries of one exchange: what they share, and what has come of them so far. */
export interface Tries<Sent extends SentRequest, Outcome extends AttemptOutcome> {
  readonly parts: Pick<AttemptParts, 'health' | 'clock' | 'timeouts'>;
  readonly input: TriedInput;
  readonly routes: readonly Route[];
  readonly sender: Sender<Sent, Outcome>;
  /** Of the requests that were sent, in order. */
  readonly attempts: AttemptRecord[];
  /** What was sent last; null when nothing was. */
  last: Sent | null;
  /** Requests sent upstream, the second one on a stale connection included. */
  sent: number;
  /** Of these, the ones whose fate is unknown. */
  uncertain: number;
  /** Routes that cannot be asked for this, and why the first of them cannot. */
  readonly refusing: Route[];
  refusal: GatewayError | null;
  readonly failures: Failure[];
}
