import type { Billing } from '#billing/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { Journal } from '#journal/index.ts';
import type { ExchangeObserver } from '#observability/index.ts';
import type { Clock } from './clock.ts';

/** What every exchange needs, whatever is asked for. */
export interface ExchangeParts {
  readonly snapshot: () => CatalogueSnapshot;
  readonly journal: Pick<Journal, 'append' | 'usable'>;
  readonly billing: Billing;
  /** The gateway's; a channel's own go before them. */
  readonly timeouts: Timeouts;
  /** What a response costs whose upstream does not say what it used. */
  readonly missingUsage: 'estimate' | 'zero' | 'error';
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  /** In [0, 1). */
  readonly random: () => number;
  /** A short text that is the same for the same bytes and tells nothing of them. */
  readonly digestBody: (body: Buffer) => string;
  /** For faults of our own, with the exchange they hurt. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
}
