import type { TaskView } from '#canonical/index.ts';
import type { PresentedLink } from './links.ts';
import type { ResultStorage } from './storage.ts';

/** A copy that may be sent. */
export interface FoundResult {
  /** In bytes. */
  readonly size: number;
  readonly type: string;
  /** Opens these bytes, the last one included. */
  read(from: number, to: number): ReturnType<ResultStorage['read']>;
}

/** Copies of results: `video.keep_results`. */
export interface Results {
  /** The tasks with links to the copies that are there. @throws the error of the database */
  shown(tasks: readonly TaskView[]): Promise<readonly TaskView[]>;
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
