import { claimDue, giveBack, nextDue, takeBack } from './claims.repository.ts';
import { assertMayWrite, createTrouble, oldestWriterOf } from '#database/index.ts';
import { createFollower } from './follow.ts';
import { createLookWriter } from './look-writer.ts';
import type { TaskParts } from './parts.ts';
import { lookRules } from './schedule.ts';

/** Milliseconds between two claims: at least, where nothing was to be had, and at most while tasks are open. */
const shortest = 250;
const idle = 1_000;
const longest = 5_000;
/** Rows of one claim, and rows under way. */
const atOnce = 200;
const underWay = 1_000;

/** Looks at the tasks of all nodes when they are due, this node being one of those that do. */
export interface Engine {
  /** A task will be due then. @param dueAt Unix milliseconds */
  wake(dueAt: number): void;
  /**
   * Leases what is due and looks at it.
   * @returns how many rows were leased, and when their looks are stored
   * @throws the error of the database
   */
  turn(): Promise<Turn>;
  /** Ends all looks and gives the leases back. Never rejects. */
  close(): Promise<void>;
}

export interface Turn {
  readonly claimed: number;
  readonly done: Promise<void>;
}

export interface EngineOptions {
  /** Ids of the tasks that this process is submitting. */
  readonly submitting: () => readonly string[];
  /** Counts the open tasks, now and then; `isLast`: no task waits for a look. */
  readonly count: (isLast: boolean) => Promise<void>;
  /** Ends the calls under way. */
  readonly onStop: () => void;
}

export function createEngine(
  parts: TaskParts,
  { submitting, count, onStop }: EngineOptions,
): Engine {
  const { database, owner, clock, settings, pace, log } = parts;
  const trouble = createTrouble((message) =>
    log.warn('tasks are not followed', { component: 'tasks', detail: message }),
  );
  /** When the database last failed, of the monotonic clock. */
  let troubledAt = Number.NEGATIVE_INFINITY;
  const onProblem = (error: unknown): void => {
    troubledAt = clock.monotonic();
    trouble.met((error as Error).message);
  };
  const writer = createLookWriter(database, onProblem);
  const follow = createFollower(parts, writer, onProblem);
  const running = new Set<Promise<void>>();
  let rowsUnderWay = 0;
  let isOwn = false;
  let isStopped = false;
  let timer: NodeJS.Timeout | null = null;
  let timerAt = Number.POSITIVE_INFINITY;
  let turning: Promise<unknown> = Promise.resolve();

  async function turn(): Promise<Turn> {
    assertMayWrite(await oldestWriterOf(database.kysely));
    if (!isOwn) {
      await takeBack(database, owner, submitting());
      isOwn = true;
    }
    const now = clock.now();
    const rows = await claimDue(database, {
      owner,
      now,
      most: Math.min(atOnce, underWay - rowsUnderWay),
      resting: pace.busy(),
      createdBefore: now - settings.expireAfter,
      // After an outage the processes that submit get the time of a lease to renew theirs.
      submitsToo: clock.monotonic() - troubledAt > lookRules.lease,
      submitting: submitting(),
    });
    rowsUnderWay += rows.length;
    const done = follow(rows)
      .then(writer.flush)
      .finally(() => {
        rowsUnderWay -= rows.length;
        running.delete(done);
      });
    running.add(done);
    return { claimed: rows.length, done };
  }

  /** Milliseconds until the next turn; null: there is nothing to wait for. */
  async function pauseAfter(claimed: number): Promise<number | null> {
    if (rowsUnderWay >= underWay) return shortest;
    if (claimed === atOnce) return shortest;
    const dueAt = await nextDue(database);
    await count(dueAt === null);
    if (dueAt !== null) {
      const least = claimed > 0 ? shortest : idle;
      const pause = dueAt - clock.now();
      return pause > 0 ? Math.min(Math.max(pause, shortest), longest) : least;
    }
    // Another node may make a task and stop.
    return database.dialect === 'postgres' ? longest : null;
  }

  async function turnAndGoOn(): Promise<void> {
    let pause: number | null = idle;
    try {
      const { claimed } = await turn();
      pause = await pauseAfter(claimed);
      trouble.over();
    } catch (error) {
      if (!isStopped) onProblem(error);
    }
    if (pause !== null) schedule(pause);
  }

  function schedule(pause: number): void {
    const at = performance.now() + pause;
    if (isStopped || at >= timerAt) return;
    if (timer !== null) clearTimeout(timer);
    timerAt = at;
    timer = setTimeout(() => {
      timer = null;
      timerAt = Number.POSITIVE_INFINITY;
      turning = turning.then(turnAndGoOn);
    }, pause).unref();
  }

  return {
    wake(dueAt) {
      schedule(Math.min(Math.max(dueAt - clock.now(), 0), longest));
    },
    turn,
    async close() {
      isStopped = true;
      if (timer !== null) clearTimeout(timer);
      onStop();
      await turning;
      await Promise.all(running);
      await writer.flush();
      await giveBack(database, owner, null).catch(() => {});
    },
  };
}
