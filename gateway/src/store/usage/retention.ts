import {
  createCautiousDate,
  createTrouble,
  type OpenDatabase,
  type Trouble,
} from '#database/index.ts';
import { removeOldUsage } from './retention.repository.ts';
import { removeExpiredState } from './upstream-state.repository.ts';

export interface RetentionOptions {
  readonly database: OpenDatabase;
  /** Milliseconds for which usage rows are kept; at least a day. */
  readonly keep: number;
  /**
   * False while the journal may bring back records that were applied before: a removed row would be taken for a new
   * one.
   */
  readonly mayStart: () => boolean;
  /** Receives what was not removed and why, when the problem begins; the removal is retried every minute. */
  readonly onProblem: (message: string) => void;
}

/** Interval between checks for something to remove. */
const interval = 60_000;
const shortest = 86_400_000;
/** Rows per step and the pause between two steps: the applier's own work comes first. */
const step = 1_000;
const pause = 100;

/** Removes old usage rows in small steps. Returns a function that stops it. */
export function keepUsageFor({
  database,
  keep,
  mayStart,
  onProblem,
}: RetentionOptions): () => void {
  const today = createToday();
  return removeInSteps(
    async () => {
      const before = today() - Math.max(keep, shortest);
      return mayStart() ? removeOldUsage(database, before, step) : 0;
    },
    troubleWith('usage rows older than retention.usage', onProblem),
  );
}

/** Removes expired upstream ids in small steps. Returns a function that stops it. */
export function removeStateWhenExpired({
  database,
  onProblem,
}: Pick<RetentionOptions, 'database' | 'onProblem'>): () => void {
  const today = createToday();
  return removeInSteps(
    () => removeExpiredState(database, today(), step),
    troubleWith('expired ids of upstream state', onProblem),
  );
}

const createToday = () =>
  createCautiousDate({ now: () => Date.now(), monotonic: () => performance.now() });

/** Reports a failed removal once, and retries it every minute. */
function troubleWith(what: string, onProblem: RetentionOptions['onProblem']): Trouble {
  return createTrouble((message) => onProblem(`${what}: ${message}`));
}

/** @param remove one step: returns the number of removed rows, fewer than `step` if nothing is left */
function removeInSteps(remove: () => Promise<number>, trouble: Trouble): () => void {
  let timer: NodeJS.Timeout;
  let stopped = false;

  async function turn(): Promise<void> {
    let removed = 0;
    try {
      removed = await remove();
      trouble.over();
    } catch (error) {
      if (!stopped) trouble.met((error as Error).message);
    }
    if (!stopped) timer = setTimeout(next, removed < step ? interval : pause);
  }

  function next(): void {
    void turn();
  }
  timer = setTimeout(next, pause);

  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
