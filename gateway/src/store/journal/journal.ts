import type { ExchangeRecord } from '#usage/index.ts';

/** The durable hand-over from the relay to the database. */
export interface Journal {
  /**
   * Keeps the record; resolves once it is on disk (fsync done), so that what comes after may be shown to the
   * client. Rejects when it cannot be made durable; an answer that nobody owes anything for waits in memory instead, as
   * far as there is room, and is written when the disk takes records again.
   */
  append(record: ExchangeRecord): Promise<void>;
  /** False when the journal cannot take records now (disk full, bound reached): nothing that costs may be admitted. */
  readonly usable: boolean;
  /** Records that were not made durable and will not be. */
  readonly lost: number;
  /** Records on disk that are not yet in the database. */
  readonly depth: number;
  /**
   * Resolves when everything that an earlier process left in the journal is in the database. Before that, what has
   * been spent according to the database is not yet all that has been spent.
   */
  readonly caughtUp: Promise<void>;
  /** Milliseconds of `performance.now()`: what was appended by then is in the database. */
  readonly appliedUntil: number;
  /** Commits what waits, applies what it can within `timeoutMs`, and stops the workers. */
  close(timeoutMs?: number): Promise<void>;
}
