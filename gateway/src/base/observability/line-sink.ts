import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** Where log lines go. Never waits for whoever reads them. */
export interface LineSink {
  /** `line` ends with a line feed. Dropped and counted when too much is waiting already. */
  write(line: string): void;
  /** False while lines are dropped, so that nobody formats one in vain. */
  readonly hasRoom: boolean;
  /** Counts a line that was not even formatted. */
  drop(): void;
  /** Hands over what has been collected, without waiting for the next batch. */
  flush(): void;
  readonly dropped: number;
  /** Hands over the rest and gives the reader so long to take it; then the stream is given up. Milliseconds. */
  close(patience?: number): Promise<void>;
}

export interface LineSinkOptions {
  /** Characters that may wait for a slow reader. */
  readonly limit?: number;
  /** Milliseconds for which lines are collected into one write. */
  readonly delayMs?: number;
}

/** Characters that are written without waiting for more. */
const batch = 64 * 1024;

/**
 * Collects lines and writes them together: one system call for many requests. Node's own standard error over a pipe
 * takes any amount and keeps it in memory; the bound is here.
 */
export function createLineSink(
  stream: Writable,
  { limit = 1024 * 1024, delayMs = 50 }: LineSinkOptions = {},
): LineSink {
  let pending = '';
  let dropped = 0;
  let timer: NodeJS.Timeout | null = null;
  let broken = false;
  // Without a listener a reader that has gone would take the whole process with it.
  stream.on('error', () => {
    broken = true;
  });
  const hasRoom = (): boolean =>
    // The stream of a file writes at once and has no length.
    !broken && pending.length + (stream.writableLength ?? 0) < limit;

  const isWaiting = (): boolean => !broken && stream.writableLength > 0;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const lines = pending;
    pending = '';
    if (lines !== '' && !broken) stream.write(lines);
  }

  return {
    write(line) {
      if (!hasRoom()) {
        dropped += 1;
        return;
      }
      pending += line;
      if (pending.length >= batch) flush();
      else timer ??= setTimeout(flush, delayMs).unref();
    },
    get hasRoom() {
      return hasRoom();
    },
    drop() {
      dropped += 1;
    },
    flush,
    get dropped() {
      return dropped;
    },
    async close(patience = 1_000) {
      flush();
      const end = performance.now() + patience;
      while (isWaiting() && performance.now() < end) await wait(10);
      // A write that is still waiting would keep the process alive for as long as its reader sleeps.
      if (isWaiting()) stream.destroy();
    },
  };
}
