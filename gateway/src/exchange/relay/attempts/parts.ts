import type { Timeouts } from '#config/index.ts';
import type { ChannelHealth } from '#routing/index.ts';
import type { UpstreamClient } from '#upstream/index.ts';
import type { Clock } from '../exchange/clock.ts';
import type { DrainSlots } from '../exchange/drain-slots.ts';
import type { Ticker } from '../exchange/ticker.ts';

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
