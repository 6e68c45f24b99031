import type { Timeouts } from '#config/index.ts';
import type { ChannelHealth } from '#routing/index.ts';
import type { UpstreamClient } from '#upstream/index.ts';
import type { Clock } from '../exchange/clock.ts';
import type { DrainSlots } from '../exchange/drain-slots.ts';
import type { Ticker } from '../exchange/ticker.ts';

/** What asking upstreams needs. */
export interface AttemptParts {
  readonly upstream: UpstreamClient;
  readonly health: ChannelHealth;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly ticker: Ticker;
  readonly drains: DrainSlots;
  /** For faults of our own, with the exchange they hurt. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
}
