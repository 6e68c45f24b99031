import type { Channel } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { ChannelHealth } from '#routing/index.ts';
import type { UpstreamClient } from '#upstream/index.ts';
import type { ClientResponse } from '../exchange/client-response.ts';
import type { DrainSlots } from '../exchange/concurrency-gate.ts';
import type { ExchangeInput, RequestMemory } from '../exchange/input.ts';
import type { Clock, Ticker } from '../exchange/ticker.ts';
import { clientDeadline, totalDeadline } from './deadlines.ts';

export interface AttemptOptions {
  readonly upstream: UpstreamClient;
  readonly client: Pick<ClientResponse, 'disconnected' | 'fail' | 'failedWith'>;
  readonly ticker: Pick<Ticker, 'add'>;
  readonly monotonic: () => number;
  /**
   * What happens when the client leaves. `cancel`: the upstream is cancelled. `drain`: the response is read for its
   * cost, if there is a slot. `finish`: it is read to its end, or to the deadline, once it has been asked for.
   */
  readonly onLeave: 'cancel' | 'drain' | 'finish';
  readonly drains: DrainSlots;
  /** Monotonic time after which the attempt is given up. */
  readonly deadline: number;
  /** Monotonic time until which the client waits for the response to begin. */
  readonly clientDeadline: number;
  /** Limits the memory for a large response; absent: it is not limited. */
  readonly memory?: RequestMemory | undefined;
  /** In bytes of the response: what `memory` already holds for it. */
  readonly reserved?: number;
  /** Called when a response without an error begins. If such an attempt fails, a costly request is not sent again. */
  readonly onAnswered?: () => void;
  /** Called with a defect of the gateway that no caller would see. */
  readonly onDefect: (error: unknown) => void;
}

/** @param onLeave `finish`: neither leaving nor a short patience makes free what was asked for. */
export function attemptOptions(
  { upstream, ticker, clock, timeouts, drains, onUnexpectedError }: Omit<AttemptParts, 'health'>,
  input: Pick<ExchangeInput, 'id' | 'client' | 'headers' | 'startedAt'>,
  channel: Pick<Channel, 'timeouts'>,
  onLeave: AttemptOptions['onLeave'],
): AttemptOptions {
  return {
    upstream,
    client: input.client,
    ticker,
    monotonic: clock.monotonic,
    onLeave,
    drains,
    deadline: totalDeadline(input, channel, timeouts),
    clientDeadline: onLeave === 'finish' ? Number.POSITIVE_INFINITY : clientDeadline(input),
    onDefect: (error) => onUnexpectedError(error, input.id),
  };
}

/** What is needed to send requests upstream. */
export interface AttemptParts {
  readonly upstream: UpstreamClient;
  readonly health: ChannelHealth;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly ticker: Ticker;
  readonly drains: DrainSlots;
  /** Called with defects of the gateway and the exchange that they affect. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
}
