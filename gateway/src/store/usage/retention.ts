import { createCautiousDate, createTrouble, type OpenDatabase } from '#database/index.ts';
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
  return removeInSteps(
    'usage rows older than retention.usage',
    async (today, most) => {
      const before = today - Math.max(keep, shortest);
      return mayStart() ? removeOldUsage(database, before, most) : 0;
    },
    onProblem,
  );
}

/** Removes expired upstream ids in small steps. Returns a function that stops it. */
export function removeStateWhenExpired({
  database,
  onProblem,
}: Pick<RetentionOptions, 'database' | 'onProblem'>): () => void {
  return removeInSteps(
    'expired ids of upstream state',
    (today, most) => removeExpiredState(database, today, most),
    onProblem,
  );
}

/**
 * Removes old rows in small steps, now and whenever there are some.
 * @param what the rows, for `onProblem`
 * @param remove one step: removes at most `most` rows and resolves to their number, fewer if nothing is left; `today` in
 * Unix milliseconds
 * @param onProblem receives what was not removed and why, once; the removal is retried every minute
 * @returns a function that stops it
 */
export function removeInSteps(
  what: string,
  remove: (today: number, most: number) => Promise<number>,
  onProblem: RetentionOptions['onProblem'],
): () => void {
  const today = createCautiousDate({ now: () => Date.now(), monotonic: () => performance.now() });
  const trouble = createTrouble((message) => onProblem(`${what}: ${message}`));
  let timer: NodeJS.Timeout;
  let isStopped = false;

  async function turn(): Promise<void> {
    let removedRows = 0;
    try {
      removedRows = await remove(today(), step);
      trouble.over();
    } catch (error) {
      if (!isStopped) trouble.met((error as Error).message);
    }
    if (!isStopped) timer = setTimeout(next, removedRows < step ? interval : pause);
  }

  function next(): void {
    void turn();
  }
  timer = setTimeout(next, pause);

  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
