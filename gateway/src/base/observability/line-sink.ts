import { fstatSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

/** Where log lines go. Writing never waits for the reader. */
export interface LineSink {
  /** `line` ends with a line feed. The line is dropped and counted if too much is waiting already. */
  write(line: string): void;
  /** False while lines are dropped; callers then skip formatting. */
  readonly hasRoom: boolean;
  /** Counts a line that was dropped before it was formatted. */
  drop(): void;
  /** Writes the collected lines now instead of with the next batch. */
  flush(): void;
  readonly droppedLines: number;
  /** Writes the remaining lines and waits up to `patience` milliseconds for the reader; then it abandons the stream. */
  close(patience?: number): Promise<void>;
}

export interface LineSinkOptions {
  /** Maximum number of characters waiting for a slow reader. */
  readonly limit?: number;
  /** How long lines are collected into one write, in milliseconds. */
  readonly delayMs?: number;
}

/** Collected characters that trigger a write at once. */
const batch = 64 * 1024;

/**
 * Collects lines and writes them together: one system call for many requests. Node's standard error accepts any amount
 * over a pipe and keeps it in memory, so the bound is here.
 */
export function createLineSink(
  stream: Writable,
  { limit = 1024 * 1024, delayMs = 50 }: LineSinkOptions = {},
): LineSink {
  let pending = '';
  let droppedLines = 0;
  let timer: NodeJS.Timeout | null = null;
  let isBroken = false;
  // Without a listener a closed reader would crash the process.
  stream.on('error', () => {
    isBroken = true;
  });
  const hasRoom = (): boolean =>
    // A file stream writes synchronously and has no `writableLength`.
    !isBroken && pending.length + (stream.writableLength ?? 0) < limit;

  const isWaiting = (): boolean => !isBroken && stream.writableLength > 0;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const lines = pending;
    pending = '';
    if (lines !== '' && !isBroken) stream.write(lines);
  }

  return {
    write(line) {
      if (!hasRoom()) {
        droppedLines += 1;
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
      droppedLines += 1;
    },
    flush,
    get droppedLines() {
      return droppedLines;
    },
    async close(patience = 1_000) {
      flush();
      const end = performance.now() + patience;
      while (isWaiting() && performance.now() < end) await wait(10);
      // A pending write would keep the process alive until its reader wakes up.
      if (isWaiting()) stream.destroy();
    },
  };
}

const descriptor = 2;

/**
 * Standard error as a stream that can be destroyed. Node's own stream cannot, so an unread pipe would keep the process
 * from ending. Files and terminals do not have the problem.
 */
export function openStandardError(): Writable {
  const kind = fstatSync(descriptor);
  if (!kind.isFIFO() && !kind.isSocket()) return process.stderr;
  return new Socket({ fd: descriptor, readable: false, writable: true }).unref();
}
