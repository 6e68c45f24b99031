import type { Worker } from 'node:worker_threads';

/** A starved machine gives a thread little CPU time, so its wall-clock limit is this many times the deadline. */
const patience = 5;
/** A thread that does not report its CPU time within this is stuck in something that cannot be interrupted. */
const answerMs = 500;

/** The running deadline of a thread. */
export interface Deadline {
  /** Stops the clock until `resume`, because the thread waits for something else. */
  pause(): void;
  resume(): void;
  end(): void;
}

/**
 * Calls `onOver` after the thread has used `ms` milliseconds of its own CPU time, which a busy neighbour does not
 * consume; at the latest after five times as much wall-clock time.
 */
export function startDeadline(worker: Worker, ms: number, onOver: () => void): Deadline {
  let isOver = false;
  let leftMs = ms * patience;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const usedBefore = cpuOf(worker);

  const arm = (wait: number): void => {
    timer = setTimeout(() => void check(), wait).unref();
  };
  const check = async (): Promise<void> => {
    const [before, now] = await Promise.all([usedBefore, cpuOf(worker)]);
    if (isOver) return;
    const rest = leftMs - (performance.now() - since);
    const usedMs = before === null || now === null ? ms : now - before;
    if (usedMs >= ms || rest <= 0) {
      isOver = true;
      onOver();
      return;
    }
    arm(Math.min(ms - usedMs, rest));
  };
  arm(ms);

  return {
    pause() {
      clearTimeout(timer);
      leftMs -= performance.now() - since;
    },
    resume() {
      since = performance.now();
      arm(Math.min(ms, Math.max(leftMs, 0)));
    },
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}

/** CPU time of the thread in milliseconds; null if it does not report it. */
async function cpuOf(worker: Worker): Promise<number | null> {
  const silence = Promise.withResolvers<null>();
  const timer = setTimeout(silence.resolve, answerMs, null).unref();
  try {
    const cpuTime = await Promise.race([worker.cpuUsage(), silence.promise]);
    return cpuTime === null ? null : (cpuTime.user + cpuTime.system) / 1000;
  } catch {
    // The thread has exited; its exit event reports that.
    return null;
  } finally {
    clearTimeout(timer);
  }
}
