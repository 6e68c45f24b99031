import { countTasks, type Counts, type OpenCount } from './counts.repository.ts';
import type { LookResult, TaskParts } from './parts.ts';
import type { CopyTally } from './results.ts';
import { lookRules } from './schedule.ts';

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

/** Milliseconds between two counts. */
const countEvery = 10_000;

const noCopies = Object.freeze({ copied: 0, failed: 0 });

/** The readings, and what renews those that the database knows. */
export function createReadings({
  database,
  clock,
  settings,
  tally,
  results,
}: Pick<TaskParts, 'database' | 'clock' | 'settings' | 'tally' | 'results'>): {
  readonly readings: TaskReadings;
  /** Counts if the last count is old, or `isLast`. @throws the error of the database */
  readonly count: (isLast: boolean) => Promise<void>;
} {
  let counts: Counts = { open: [], oldestDue: null };
  let countedAt = clock.now();
  let next = Number.NEGATIVE_INFINITY;
  const lag = (): number =>
    counts.oldestDue === null ? 0 : Math.max(0, countedAt - counts.oldestDue);

  return {
    readings: {
      get open() {
        return counts.open;
      },
      get looks() {
        return tally.looks;
      },
      get lag() {
        return lag();
      },
      get isLagging() {
        // The tasks of a node that was killed wait for its leases to end.
        return lag() > settings.pollInterval + lookRules.lease;
      },
      get expired() {
        return tally.expired;
      },
      get lost() {
        return tally.lost;
      },
      get results() {
        return results?.tally ?? noCopies;
      },
      get uncertain() {
        return tally.uncertain;
      },
    },
    async count(isLast) {
      const time = clock.monotonic();
      if (time < next && !isLast) return;
      next = time + countEvery;
      const now = clock.now();
      counts = await countTasks(database, now);
      countedAt = now;
    },
  };
}
