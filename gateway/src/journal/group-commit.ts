export interface GroupCommitOptions {
  /** Hands one batch over to be written; its outcome comes back through `done` or `failed`. */
  readonly send: (lines: string, count: number) => void;
  /** Asks for a write without records; its outcome comes back the same way. */
  readonly probe: () => void;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Runs a function later. */
  readonly schedule: (run: () => void, milliseconds: number) => void;
  readonly rejection: (reason: string) => Error;
}

interface Waiting {
  readonly line: string;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

const maxFailures = 3;
const retryAfter = 50;
const probeInterval = 1_000;
/** Milliseconds between the starts of two commits, at least. */
const shortestGap = 1;
const longestGap = 5;

/**
 * A commit costs about the same for one record as for twenty, so the faster records come, the longer it pays
 * to gather them: 1 ms up to 1 500 records per second, 5 ms from 3 000. A lone record never waits.
 */
function gapAt(recordsPerSecond: number): number {
  return Math.min(Math.max(recordsPerSecond / 375 - 3, shortestGap), longestGap);
}

/** What stands between the requests and the disk: gathers records while a commit runs, then commits them all. */
export function createGroupCommit(options: GroupCommitOptions) {
  const { send, probe, now, schedule } = options;
  let waiting: Waiting[] = [];
  let inFlight: Waiting[] = [];
  let busy = false;
  let scheduled = false;
  let failures = 0;
  let lastStart = -Infinity;
  let broken: string | null = null;
  /** Records per second, over the last few commits. */
  let rate = 0;

  function append(line: string): Promise<void> {
    if (broken !== null) return Promise.reject(options.rejection(broken));
    return new Promise((resolve, reject) => {
      waiting.push({ line, resolve, reject });
      arrange();
    });
  }

  /** Starts the next commit when it is time, or sees to it that it will be. */
  function arrange(): void {
    if (busy || scheduled || waiting.length === 0 || broken !== null) return;
    const since = now() - lastStart;
    const gap = gapAt(rate) - since;
    scheduled = true;
    if (gap <= 0) queueMicrotask(start);
    else schedule(start, gap);
  }

  function start(): void {
    scheduled = false;
    if (busy || waiting.length === 0) return;
    const time = now();
    const elapsed = Math.max(time - lastStart, 0.1);
    rate += ((waiting.length * 1_000) / elapsed - rate) * 0.2;
    lastStart = time;
    inFlight = waiting;
    waiting = [];
    write();
  }

  function write(): void {
    busy = true;
    send(inFlight.map(({ line }) => line).join(','), inFlight.length);
  }

  function done(): void {
    failures = 0;
    busy = false;
    broken = null;
    const written = inFlight;
    inFlight = [];
    for (const { resolve } of written) resolve();
    arrange();
  }

  function failed(reason: string): void {
    failures += 1;
    if (failures < maxFailures) {
      schedule(write, retryAfter);
      return;
    }
    // From here nothing is taken until a probe has been written.
    broken = reason;
    refuseAll();
    schedule(probe, probeInterval);
  }

  function refuseAll(): void {
    const refused = [...inFlight, ...waiting];
    inFlight = [];
    waiting = [];
    for (const { reject } of refused) reject(options.rejection(broken ?? 'closed'));
  }

  return {
    append,
    done,
    failed,
    /** Refuses everything from now on; nothing mends it. */
    end(reason: string) {
      broken = reason;
      busy = true;
      refuseAll();
    },
    get broken() {
      return broken;
    },
    get idle() {
      return inFlight.length === 0 && waiting.length === 0;
    },
  };
}
