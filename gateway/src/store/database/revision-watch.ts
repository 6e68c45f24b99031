import { currentRevision } from './revisions.ts';
import type { OpenDatabase } from './open.ts';

/**
 * Told of a new revision; loads what changed since the last one it has seen. One that throws, or says false because
 * it is not ready for changes, is told again with the next look; the others go on without it.
 */
export type RevisionListener = (revision: number) => Promise<boolean>;

export interface RevisionSubscription {
  /**
   * When the last look began after which the listener had all there was, in milliseconds of `performance.now()`; at
   * first when it subscribed.
   */
  readonly upToDateAt: number;
}

export interface RevisionWatch {
  /** Adds a listener for changes from now on. */
  subscribe(listener: RevisionListener): RevisionSubscription;
  /** Looks now; resolves when the listeners are through. @throws what the database or a listener threw. */
  poll(): Promise<void>;
  /** The revision that the last look found; 0 before the first one. */
  readonly revision: number;
  /** What the last look failed with; null when it succeeded. */
  readonly problem: Error | null;
  close(): void;
}

export interface RevisionWatchOptions {
  readonly database: Pick<OpenDatabase, 'kysely' | 'listen'>;
  /** Milliseconds between looks while nobody tells of changes, default 1 000. */
  readonly interval?: number;
  /** Milliseconds between looks while the database tells of them, default 4 000: no notification is relied on. */
  readonly floor?: number;
}

/**
 * Looks as soon as the database tells of a change, and by itself: one cheap question for everything held in memory.
 * While the database is away the listeners keep what they have.
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
    const begun = performance.now();
    let failure: Error | null = null;
    try {
      // Read before the rows, so that what is committed meanwhile is asked for again next time.
      const current = await currentRevision(database.kysely);
      revision = current;
      for (const subscriber of subscribers) {
        try {
          await bringUpToDate(subscriber, current, begun);
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

  /** One look at a time; a caller who asks during one waits for the next, which sees what the caller wrote. */
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
    const isTold = listening?.works === true && problem === null;
    timer = setTimeout(lookAgain, isTold ? floor : interval);
    timer.unref();
  }

  const listening = database.listen?.(lookAgain) ?? null;
  waitForNext();

  return {
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
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      listening?.close();
    },
  };
}

interface Subscriber {
  readonly listener: RevisionListener;
  /** The last one that it has taken. */
  revision: number;
  upToDateAt: number;
}

async function bringUpToDate(
  subscriber: Subscriber,
  revision: number,
  begun: number,
): Promise<void> {
  if (subscriber.revision !== revision) {
    if (!(await subscriber.listener(revision))) return;
    subscriber.revision = revision;
  }
  subscriber.upToDateAt = begun;
}
