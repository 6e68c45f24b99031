import type { Billing } from '#billing/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import type { Logger } from '#observability/index.ts';
import type { UpstreamClient } from '#upstream/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import type { ChannelAddress, Vendor } from '#vendors/index.ts';
import type { Pace } from './pace.ts';
import type { Results } from './results.ts';
import type { Schedule } from './schedule.ts';

export interface TaskSettings extends Schedule {
  /** What a task that is priced by tokens costs if none were reported. `error`: nothing. */
  readonly missingUsage: 'estimate' | 'zero' | 'error';
}

/** What everything that follows tasks needs. */
export interface TaskParts {
  readonly database: OpenDatabase;
  /** Who holds leases: the id of this node. */
  readonly owner: string;
  readonly billing: Pick<Billing, 'taskBeginning' | 'taskBegun' | 'taskEnding' | 'taskEnded'>;
  readonly secrets: Pick<Secrets, 'seal' | 'open'>;
  readonly upstream: UpstreamClient;
  readonly clock: TaskClock;
  readonly settings: TaskSettings;
  readonly timeouts: Timeouts;
  readonly snapshot: () => Pick<CatalogueSnapshot, 'channels'>;
  readonly log: Pick<Logger, 'warn' | 'error'>;
  /** Null: results are not copied. */
  readonly results: Results | null;
  /** Called for each task that has ended, after it is stored. */
  readonly onEnded: (record: ExchangeRecord) => void;
  readonly vendorOf: (address: ChannelAddress) => Vendor | undefined;
  readonly pace: Pace;
  readonly tally: TaskTally;
  /** No call is made, or continues, after this. */
  readonly stop: AbortSignal;
}

export interface TaskClock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds. */
  monotonic(): number;
}

/** How a call that asks about tasks ended. */
export type LookResult = 'answered' | 'limited' | 'failed';

/** Counts for the readings. */
export interface TaskTally {
  readonly looks: Record<LookResult, number>;
  expired: number;
  lost: number;
  uncertain: number;
}

export function createTally(): TaskTally {
  return { looks: { answered: 0, limited: 0, failed: 0 }, expired: 0, lost: 0, uncertain: 0 };
}
