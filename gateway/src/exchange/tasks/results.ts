import type { Readable } from 'node:stream';
import type { TaskView } from '#canonical/index.ts';
import type { OpenDatabase } from '#database/index.ts';

/** A link to a copy, as its bearer presents it. */
export interface PresentedLink {
  readonly task: string;
  readonly name: string;
  readonly expires: string;
  readonly signature: string;
}

/** A copy that may be sent. */
export interface FoundResult {
  /** In bytes. */
  readonly size: number;
  readonly type: string;
  /** Opens these bytes, the last one included. */
  read(from: number, to: number): Promise<Readable>;
}

/** Copies what tasks have made: `video.keep_results`. */
export interface Results {
  /** Plans the copies of a task, in the transaction that ends it. @param now Unix milliseconds */
  plan(trx: OpenDatabase['kysely'], task: string, now: number): Promise<void>;
  /** The tasks with links to the copies that are there. @throws the error of the database */
  withLinks(tasks: readonly TaskView[]): Promise<readonly TaskView[]>;
  /** What a link names; `expired`: its time is over; null: we never signed it, or the copy is gone. */
  find(link: PresentedLink): Promise<FoundResult | 'expired' | null>;
  readonly tally: Readonly<CopyTally>;
  close(): Promise<void>;
}

/** What became of copies here. */
export interface CopyTally {
  copied: number;
  failed: number;
}
