/** Between the thread of requests and the two workers of the journal. Plain data, posted as it is. */

export interface WriterSettings {
  readonly dataDir: string;
  /** The last batch that is known to be in the database, when a writer takes the place of another; else 0. */
  readonly appliedUpTo: number;
  /** Of the lines that it writes. Passed in: the room that defines it loads more than this thread needs. */
  readonly lineVersion: number;
}

export type ToWriter =
  | { readonly kind: 'commit'; readonly lines: string; readonly count: number }
  | { readonly kind: 'remove'; readonly upTo: number }
  | { readonly kind: 'probe' }
  | { readonly kind: 'close' };

export type FromWriter =
  /** The journal is open and holds this much from before. */
  | { readonly kind: 'opened'; readonly count: number; readonly bytes: number }
  | { readonly kind: 'refused'; readonly message: string }
  /** The last `commit` or `probe` is on disk. */
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

export interface ApplierSettings {
  readonly dataDir: string;
  /** As for the writer: what has been told as applied is not told again. */
  readonly appliedUpTo: number;
  readonly databaseUrl: string;
  /** Milliseconds for which usage rows are kept; null: for ever. */
  readonly keepUsage: number | null;
}

export type ToApplier =
  /** Apply everything at once, and end. */
  { readonly kind: 'drain' };

export type FromApplier =
  /** All batches up to this one are in the database. */
  | {
      readonly kind: 'applied';
      readonly upTo: number;
      readonly count: number;
      readonly bytes: number;
    }
  /** The database did not take records; it is tried again. */
  | { readonly kind: 'away'; readonly message: string }
  /** A record the database will never take was put aside. */
  | { readonly kind: 'rejected'; readonly message: string }
  /** Old usage rows could not be removed; it is tried again. */
  | { readonly kind: 'not-removed'; readonly message: string };
