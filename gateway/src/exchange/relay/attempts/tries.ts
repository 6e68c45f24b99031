import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { Journal } from '#journal/index.ts';
import type { AttemptRecord, PassedOver } from '#usage/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { ExchangeInput } from '../exchange/input.ts';
import type { SentRequest } from '../exchange/tried.ts';
import type { Failure } from './final-error.ts';
import type { AttemptOutcome } from './outcome.ts';
import type { AttemptParts } from './parts.ts';
import type { Sender } from './sender.ts';

/** How many requests one exchange may send upstream. */
export const maxTries = 3;

/** The parts of an exchange's input that decide how it is tried, and that name it. */
export interface TriedInput extends Pick<ExchangeInput, 'id' | 'caller' | 'headers' | 'startedAt'> {
  readonly client: Pick<ExchangeInput['client'], 'disconnected'>;
}

/** What the tries need of their exchange. */
export interface TriedExchange extends Pick<Exchange, 'hold'> {
  readonly input: TriedInput;
}

/** What the tries need of the gateway. */
export interface TryingParts extends Pick<
  AttemptParts,
  'health' | 'clock' | 'timeouts' | 'onUnexpectedError'
> {
  readonly journal: Pick<Journal, 'begin'>;
}

/** A 400 that nothing explains, of a request that was converted. */
export interface Rejection<Sent> {
  readonly route: Route;
  /** The client's error unless another vendor answers. */
  readonly error: GatewayError;
  readonly request: Sent | null;
  /** How many requests had been sent. */
  readonly sent: number;
}

/** The tries of one exchange: their shared data and the outcomes so far. */
export interface Tries<Sent extends SentRequest, Outcome extends AttemptOutcome> {
  readonly parts: TryingParts;
  readonly exchange: TriedExchange;
  readonly input: TriedInput;
  readonly routes: readonly Route[];
  readonly sender: Sender<Sent, Outcome>;
  /** One for each request that was sent, in order. */
  readonly attempts: AttemptRecord[];
  /** The request that was sent last; null when none was. */
  last: Sent | null;
  /** How many requests were sent upstream, including the repetition after a stale connection. */
  sent: number;
  /** How many of them may have reached a model without a response. */
  uncertain: number;
  /** No further request may be sent: the last one may have cost the operator something (`Sender.isCostly`). */
  isSpent: boolean;
  /** Routes that cannot take this request, and the reason of the first of them. */
  readonly refusing: Route[];
  refusal: GatewayError | null;
  readonly failures: Failure[];
  /** The first refusal that may be the conversion's fault. One channel of another vendor is asked after it. */
  rejection: Rejection<Sent> | null;
  readonly passed: PassedOver[];
  /** Defects of the gateway that kept a channel from being asked. */
  readonly defects: unknown[];
}
