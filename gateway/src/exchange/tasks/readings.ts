import type { CopyTally } from './results/kept-results.ts';
import type { OpenCount } from './counts.repository.ts';

/** What is known of tasks, for metrics and `/ready`. Reading is free. */
export interface TaskReadings {
  /** Open tasks of all nodes by state and channel, at the last count. */
  readonly open: readonly OpenCount[];
  /** Calls of this process that asked about tasks, by result. */
  readonly looks: Readonly<Record<LookResult, number>>;
  /** Milliseconds by which the look that waits longest is late, over all nodes. */
  readonly lag: number;
  /** Looks are so late that ends are seen late. */
  readonly isLagging: boolean;
  /** Seen by this process: tasks that took too long, what upstreams made of such tasks after all, and uncertain submits. */
  readonly expired: number;
  readonly lost: number;
  readonly uncertain: number;
  /** Finished tasks whose files were copied by this process, or not in time. */
  readonly results: Readonly<CopyTally>;
}

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
