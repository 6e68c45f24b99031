import { changesChannel } from './listening.ts';
import { readRevisions } from './revisions.ts';
import type { OpenDatabase } from './open.ts';

/**
 * Receives a new revision and loads everything that changed since the last one it has loaded. If it throws, or returns
 * false because it is not ready, it is called again at the next poll; other listeners are unaffected.
 */
export type RevisionListener = (revision: number) => Promise<boolean>;

export interface RevisionSubscription {
  /**
   * Start of the last poll after which the listener was up to date, in milliseconds of `performance.now()`; initially
   * the time of the subscription.
   */
  readonly upToDateAt: number;
}

export interface RevisionWatch {
  /** Adds a listener for changes from now on. */
  subscribe(listener: RevisionListener): RevisionSubscription;
  /** Polls now; resolves when the listeners are done. @throws the error of the database or of a listener */
  poll(): Promise<void>;
  /** The revision found by the last poll; 0 before the first one. */
  readonly revision: number;
  /** The error of the last poll; null if it succeeded. */
  readonly problem: Error | null;
  /** Whether the database needs a newer program. Then listeners keep what they have. */
  readonly isOutdated: boolean;
  close(): void;
}

export interface RevisionWatchOptions {
  readonly database: Pick<OpenDatabase, 'kysely' | 'listen'>;
  /** Milliseconds between polls without notifications, default 1 000. */
  readonly interval?: number;
  /** Milliseconds between polls with notifications, default 4 000: polling covers lost notifications. */
  readonly floor?: number;
}

/**
 * Polls on every notification and at an interval: one cheap query for everything that is held in memory. While the
 * database is unreachable, listeners keep their data.
 */
export function createRevisionWatch({
  database,
  interval = 1_000,
  floor = 4_000,
}: RevisionWatchOptions): RevisionWatch {
  const subscribers: Subscriber[] = [];
  let revision = 0;
  let problem: Error | null = null;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  async function look(): Promise<void> {
    const startedAt = performance.now();
    let failure: Error | null = null;
    try {
      // Read before the rows, so that a concurrent commit is fetched again at the next poll.
      const current = await readRevisions(database.kysely);
      ({ revision } = current);
      watch.isOutdated = current.isOutdated;
      // This program may not understand the other tables.
      for (const subscriber of watch.isOutdated ? [] : subscribers) {
        try {
          await bringUpToDate(subscriber, current.revision, startedAt);
        } catch (error) {
          failure ??= error as Error;
        }
      }
    } catch (error) {
      failure = error as Error;
    }
    problem = failure;
    if (failure !== null) throw failure;
  }

  /** One poll at a time. A caller during a poll waits for the next one, which sees everything the caller wrote. */
  async function poll(): Promise<void> {
    if (running !== null) await running.catch(() => {});
    running ??= look().finally(() => {
      running = null;
    });
    await running;
  }

  function lookAgain(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    void poll()
      .catch(() => {})
      .finally(waitForNext);
  }

  function waitForNext(): void {
    if (isClosed) return;
    if (timer !== null) clearTimeout(timer);
    const isNotified = listening?.works === true && problem === null;
    timer = setTimeout(lookAgain, isNotified ? floor : interval);
    timer.unref();
  }

  const listening = database.listen?.([changesChannel], lookAgain) ?? null;

  // A plain value: every request reads it.
  const watch: RevisionWatch & { isOutdated: boolean } = {
    subscribe(listener) {
      const subscriber = { listener, revision, upToDateAt: performance.now() };
      subscribers.push(subscriber);
      return subscriber;
    },
    poll,
    get revision() {
      return revision;
    },
    get problem() {
      return problem;
    },
    isOutdated: false,
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      listening?.close();
    },
  };
  waitForNext();
  return watch;
}

interface Subscriber {
  readonly listener: RevisionListener;
  /** The last revision it has loaded. */
  revision: number;
  upToDateAt: number;
}

async function bringUpToDate(
  subscriber: Subscriber,
  revision: number,
  startedAt: number,
): Promise<void> {
  if (subscriber.revision !== revision) {
    if (!(await subscriber.listener(revision))) return;
    subscriber.revision = revision;
  }
  subscriber.upToDateAt = startedAt;
}
