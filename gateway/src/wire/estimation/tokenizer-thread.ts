import { Worker } from 'node:worker_threads';
import type { TextCounts } from './family.ts';

export interface CountRequest {
  readonly id: number;
  readonly said: readonly string[];
  readonly defined: readonly string[];
}

export interface CountReply extends TextCounts {
  readonly id: number;
}

export interface TokenizerThread {
  /** Null if no result is available in time: too much is being counted, or the thread has ended. */
  count(texts: Omit<CountRequest, 'id'>): Promise<TextCounts | null>;
  close(): Promise<void>;
}

export interface TokenizerThreadOptions {
  /** Milliseconds after which an idle thread ends; its tables take 80 MB. */
  readonly idle: number;
  /** The longest wait for a count, in milliseconds. */
  readonly patience: number;
  /** Receives the error that ended the thread. */
  readonly onProblem: (error: unknown) => void;
}

interface Waiting {
  readonly resolve: (counts: TextCounts | null) => void;
  readonly timer: NodeJS.Timeout;
}

/** Maximum characters waiting to be counted; a count of more would arrive too late. */
const maxWaitingLength = 64 * 1024 * 1024;

/** A thread that exists only while something is counted, and for a while after. */
export function createTokenizerThread(options: TokenizerThreadOptions): TokenizerThread {
  const { idle, patience, onProblem } = options;
  const waiting = new Map<number, Waiting & { readonly length: number }>();
  let worker: Worker | null = null;
  let waitingLength = 0;
  let lastId = 0;
  let idleTimer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function start(): Worker {
    const newWorker = new Worker(new URL('./count.worker.ts', import.meta.url), {
      name: 'sluice-count',
    });
    newWorker.unref();
    newWorker.on('message', (reply: CountReply) => finish(reply.id, reply));
    newWorker.on('error', onProblem);
    newWorker.on('exit', () => {
      if (worker === newWorker) forget();
    });
    return newWorker;
  }

  /** Gives up all waiting counts; the next one starts another thread. */
  function forget(): void {
    worker = null;
    for (const id of waiting.keys()) finish(id, null);
  }

  function finish(id: number, counts: TextCounts | null): void {
    const entry = waiting.get(id);
    if (entry === undefined) return;
    waiting.delete(id);
    waitingLength -= entry.length;
    clearTimeout(entry.timer);
    entry.resolve(counts);
    if (waiting.size === 0 && worker !== null) endWhenIdle();
  }

  function endWhenIdle(): void {
    if (idleTimer !== null) clearTimeout(idleTimer);
    idleTimer = setTimeout(() => void end(), idle).unref();
  }

  async function end(): Promise<void> {
    const ending = worker;
    if (idleTimer !== null) clearTimeout(idleTimer);
    forget();
    await ending?.terminate();
  }

  return {
    count({ said, defined }) {
      const length = lengthOf(said) + lengthOf(defined);
      if (isClosed || waitingLength + length > maxWaitingLength) return Promise.resolve(null);
      if (idleTimer !== null) clearTimeout(idleTimer);
      try {
        worker ??= start();
      } catch (error) {
        onProblem(error);
        return Promise.resolve(null);
      }
      const id = ++lastId;
      waitingLength += length;
      worker.postMessage({ id, said, defined } satisfies CountRequest);
      return new Promise((resolve) => {
        const timer = setTimeout(() => finish(id, null), patience).unref();
        waiting.set(id, { resolve, timer, length });
      });
    },

    async close() {
      isClosed = true;
      await end();
    },
  };
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
