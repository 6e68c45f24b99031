import { countTasks, type Counts } from './counts.repository.ts';
import type { TaskParts } from './parts.ts';
import type { TaskReadings } from './readings.ts';
import { lookRules } from './schedule.ts';

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
