import type { Billing } from '#billing/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { CondensedJournal } from '#journal/index.ts';
import type { ExchangeObserver } from '#observability/index.ts';
import type { Clock } from './clock.ts';

/** What every exchange needs, whatever its operation. */
export interface ExchangeParts {
  readonly snapshot: () => CatalogueSnapshot;
  readonly journal: Pick<CondensedJournal, 'append' | 'begin' | 'usable' | 'unpaidFor'>;
  readonly billing: Billing;
  /** The gateway's settings; a channel's own take precedence. */
  readonly timeouts: Timeouts;
  /** How a response is charged if its upstream reports no usage. */
  readonly missingUsage: 'estimate' | 'zero' | 'error';
  readonly clock: Clock;
  readonly observer: ExchangeObserver;
  /** In [0, 1). */
  readonly random: () => number;
  /** A short text, the same for the same bytes, that reveals nothing about them. */
  readonly digestBody: (body: Buffer) => string;
  /** Called with defects of the gateway and the exchange that they affect. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
}
