import type { LeasedPart } from '#leases/index.ts';
import type { KeepRules } from './kept-batches.ts';
import type { Place } from './mark.ts';
import type { Loss } from './read-on.ts';

/** Messages between the request thread and the two workers of the journal: plain data, posted as it is. */

export interface WriterSettings {
  readonly dataDir: string;
  /** What is known to be in the database, if a writer replaces another; otherwise null. */
  readonly applied: Place | null;
  /**
   * The version of the lines that it writes. Passed in, because the room that defines it loads more than this thread
   * needs.
   */
  readonly lineVersion: number;
  /** How long applied batches stay. */
  readonly keep: KeepRules;
}

export type ToWriter =
  | {
      readonly kind: 'commit';
      readonly lines: string;
      readonly count: number;
      readonly intents: string | null;
    }
  /** Intents that no commit has taken with it. No reply follows. */
  | { readonly kind: 'intents'; readonly intents: string }
  | { readonly kind: 'applied'; readonly place: Place }
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };

export type FromWriter =
  /** The journal is open and contains this much from before. */
  | {
      readonly kind: 'opened';
      readonly count: number;
      readonly bytes: number;
      /** The last batch. */
      readonly lastId: number;
    }
  /** The file ended before the last acknowledged record. */
  | { readonly kind: 'shortened'; readonly missing: number }
  | { readonly kind: 'refused'; readonly message: string }
  /** The last `commit` or `probe` is on disk. */
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

export interface ApplierSettings {
  readonly dataDir: string;
  /** As for the writer: applied batches that were reported are not reported again. */
  readonly applied: Place | null;
  /** The id of the node that the journal belongs to. */
  readonly node: string;
  /** The last batch of earlier processes. */
  readonly leftBehind: number;
  readonly databaseUrl: string;
  /** Milliseconds for which usage rows are kept; null: forever. */
  readonly keepUsage: number | null;
  /** Whether to find out what has been spent, before anything is applied. */
  readonly findsSpent: boolean;
  /** Milliseconds between looks at a journal with nothing new. */
  readonly lookEvery: number;
}

export type ToApplier =
  /** Apply everything at once, and end. */
  | { readonly kind: 'drain' }
  /** The database went back in time: write what is applied once more. */
  | { readonly kind: 'replay' };

export type FromApplier =
  /** Everything up to this place is in the database, or never will be. */
  | {
      readonly kind: 'applied';
      readonly place: Place;
      readonly count: number;
      readonly bytes: number;
    }
  /** What has been spent on the meters of records that earlier processes left, these included. Nano-USD. */
  | { readonly kind: 'spent'; readonly meters: ReadonlyMap<string, bigint> }
  /** The database did not accept records; they are retried. */
  | { readonly kind: 'away'; readonly message: string }
  /** Acknowledged records are gone. The database has a note of it. */
  | { readonly kind: 'lost'; readonly loss: Loss }
  /** A record that the database will never accept was set aside. */
  | {
      readonly kind: 'rejected';
      readonly message: string;
      /** The parts of its charge that lay in leases, as far as they can be read. */
      readonly leasedParts: readonly LeasedPart[];
    }
  /** These charges came after their leases had been freed. `amount` is nano-USD. */
  | { readonly kind: 'late'; readonly count: number; readonly amount: bigint }
  /** The kept records are in the database; it had lost some of them. */
  | { readonly kind: 'replayed'; readonly records: number; readonly restored: number }
  /** An earlier process was cut off with so many attempts under way. The database has them. */
  | { readonly kind: 'unfinished'; readonly count: number }
  /** A crash of the database may lose what it has committed. */
  | { readonly kind: 'not-durable'; readonly message: string }
  /** Old usage rows could not be removed; the removal is retried. */
  | { readonly kind: 'not-removed'; readonly message: string };
