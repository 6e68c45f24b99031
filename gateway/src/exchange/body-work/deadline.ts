import type { Worker } from 'node:worker_threads';

/** A starved machine gives a thread little CPU time: it may take so many times its deadline by the clock. */
const patience = 5;
/** A thread that does not tell its CPU time within this is inside of something that cannot be interrupted. */
const answerMs = 500;

/** What a deadline is kept for. */
export interface Deadline {
  /** The thread waits for somebody else: nothing counts until `resume`. */
  pause(): void;
  resume(): void;
  end(): void;
}

/**
 * Calls `onOver` once the thread has worked for so many milliseconds of its own CPU time, which a busy neighbour does not
 * take from it; by the clock at the latest when five times as many are over.
 */
export function startDeadline(worker: Worker, ms: number, onOver: () => void): Deadline {
  let ended = false;
  let left = ms * patience;
  let since = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const usedBefore = cpuOf(worker);

  const arm = (wait: number): void => {
    timer = setTimeout(() => void check(), wait).unref();
  };
  const check = async (): Promise<void> => {
    const [before, now] = await Promise.all([usedBefore, cpuOf(worker)]);
    if (ended) return;
    const rest = left - (performance.now() - since);
    const used = before === null || now === null ? ms : now - before;
    if (used >= ms || rest <= 0) {
      ended = true;
      onOver();
      return;
    }
    arm(Math.min(ms - used, rest));
  };
  arm(ms);

  return {
    pause() {
      clearTimeout(timer);
      left -= performance.now() - since;
    },
    resume() {
      since = performance.now();
      arm(Math.min(ms, Math.max(left, 0)));
    },
    end() {
      ended = true;
      clearTimeout(timer);
    },
  };
}

/** Milliseconds of CPU time that the thread has used; null when it does not say. */
async function cpuOf(worker: Worker): Promise<number | null> {
  const silence = Promise.withResolvers<null>();
  const timer = setTimeout(silence.resolve, answerMs, null).unref();
  try {
    const told = await Promise.race([worker.cpuUsage(), silence.promise]);
    return told === null ? null : (told.user + told.system) / 1000;
  } catch {
    // It is gone, which its end tells.
    return null;
  } finally {
    clearTimeout(timer);
  }
}
