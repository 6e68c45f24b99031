import type { LeasedPart } from '#leases/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import type { Intent } from './intents.ts';

/** The durable hand-over from the relay to the database. */
export interface Journal {
  /**
   * Stores the record; resolves once it is on disk (fsync done), so that the following output may be shown to the
   * client. Rejects if the record cannot be made durable. The record of a free response waits in memory instead, if
   * there is room, and is written when the disk accepts records again.
   */
  append(record: ExchangeRecord): Promise<void>;
  /**
   * Notes that a request is being sent upstream, so that a crash leaves a trace of it. The note has no sync of its own and
   * nobody waits for it; it ends with the exchange's record.
   */
  begin(intent: Intent): void;
  /** False if the journal cannot accept records now (disk full, limit reached): no billable request may be admitted. */
  readonly usable: boolean;
  /** Whether the database took no records the last time: they wait on the disk. */
  readonly isAway: boolean;
  /** Records that were not made durable and never will be. */
  readonly lost: number;
  /** Attempts that were under way when an earlier process was killed, as far as this one has found them. */
  readonly unfinished: number;
  /** Records on disk that are not yet in the database. */
  readonly depth: number;
  /**
   * Resolves when everything that an earlier process left in the journal is in the database. Until then, the database's
   * totals do not include all spending.
   */
  readonly caughtUp: Promise<void>;
  /**
   * What has been spent on the meters of the records that an earlier process left, these records included. By meter, in
   * nano-USD; holds until `caughtUp`. Resolves long before that, if it was asked for and everything can be read.
   */
  readonly spentWithLeftOver: Promise<ReadonlyMap<string, bigint>>;
  /** Milliseconds of `performance.now()`: everything appended before it is in the database. */
  readonly appliedUntil: number;
  /** Calls back with the leased parts of each charge that was set aside because the database will never accept it. */
  onRejected(listener: (leasedParts: readonly LeasedPart[]) => void): void;
  /**
   * Writes the kept records to the database once more, which has lost its last moments. Resolves when they are there; never
   * rejects.
   */
  replay(): Promise<void>;
  /** Commits waiting records, applies what it can within `timeoutMs`, and stops the workers. */
  close(timeoutMs?: number): Promise<void>;
}

export interface JournalProblem {
  readonly kind:
    | 'write-failed'
    | 'database-away'
    | 'record-rejected'
    | 'charges-late'
    | 'records-replayed'
    | 'rows-not-removed'
    | 'database-not-durable'
    | 'attempts-unfinished'
    | 'records-lost'
    | 'records-missing'
    | 'worker-ended';
  readonly message: string;
}
