import {
  createThread,
  ThreadFailure,
  type Task,
  type Thread,
  type ThreadOptions,
} from './thread.ts';

export type { Task } from './thread.ts';

/** Runs work in threads, so that the main thread can serve others. */
export interface ThreadPool {
  /** @param key the owner of the task: keys take turns */
  run(key: string, task: Task): Running;
  /** Ends all running and waiting tasks and accepts no more. */
  close(): Promise<void>;
}

export interface Running {
  /** @throws ThreadFailure */
  readonly result: Promise<unknown>;
  /** Cancels a task that has not begun; its result fails with `error`. Returns false if it has begun. */
  cancel(error: Error): boolean;
  /**
   * Fails the result with `error` at once. A task that has begun continues in its thread until its end or its deadline.
   */
  abandon(error: Error): void;
}

export interface ThreadPoolOptions extends Omit<ThreadOptions, 'onFree' | 'onEnd'> {
  /** Maximum number of threads; each is started on demand. */
  readonly size: number;
  /** Milliseconds after which an idle thread ends and releases its memory. */
  readonly idle: number;
}

export function createThreadPool({ size, idle, ...options }: ThreadPoolOptions): ThreadPool {
  const turns = createTurns<Task>();
  const { onProblem } = options;
  const threads = new Set<Thread>();
  const idling = new Map<Thread, NodeJS.Timeout>();
  let isClosed = false;

  const give = (thread: Thread, task: Task): void => {
    clearTimeout(idling.get(thread));
    idling.delete(thread);
    thread.start(task);
  };
  const begin = (): void => {
    for (let task = turns.take(); task !== undefined; task = turns.take()) {
      try {
        give(start(), task);
        return;
      } catch (error) {
        // The system provides no more threads, so waiting for one would be in vain.
        onProblem(error);
        task.onFailure?.(new ThreadFailure('ended', error));
      }
    }
  };
  const start = (): Thread => {
    const thread = createThread({
      ...options,
      onFree() {
        const next = turns.take();
        if (next !== undefined) {
          give(thread, next);
          return;
        }
        const end = setTimeout(() => {
          idling.delete(thread);
          void thread.end();
        }, idle);
        idling.set(thread, end.unref());
      },
      // Only now, so that the number of threads never exceeds the number of places.
      onEnd() {
        clearTimeout(idling.get(thread));
        idling.delete(thread);
        threads.delete(thread);
        if (!isClosed) begin();
      },
    });
    threads.add(thread);
    return thread;
  };

  return {
    run(key, task) {
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const own: Task = { ...task, onResult: resolve, onFailure: reject };
      const [free] = idling.keys();
      if (isClosed) reject(new ThreadFailure('ended'));
      else if (free !== undefined) give(free, own);
      else {
        turns.add(key, own);
        if (threads.size < size) begin();
      }
      return {
        result: promise,
        cancel(error) {
          const isWaiting = turns.remove(key, own);
          if (isWaiting) reject(error);
          return isWaiting;
        },
        abandon(error) {
          turns.remove(key, own);
          reject(error);
        },
      };
    },
    async close() {
      isClosed = true;
      for (let task = turns.take(); task !== undefined; task = turns.take()) {
        task.onFailure?.(new ThreadFailure('ended'));
      }
      for (const timer of idling.values()) clearTimeout(timer);
      idling.clear();
      await Promise.all([...threads].map((thread) => thread.end()));
    },
  };
}

/** A queue that serves keys in turn, so that one key's many items do not delay another's single one. */
interface Turns<Item> {
  add(key: string, item: Item): void;
  /** The first item of the next key; undefined if the queue is empty. */
  take(): Item | undefined;
  /** False if the item is not in the queue. */
  remove(key: string, item: Item): boolean;
}

export function createTurns<Item>(): Turns<Item> {
  /** By key, in the order of their turns; no list is empty. */
  const waiting = new Map<string, Item[]>();
  return {
    add(key, item) {
      const own = waiting.get(key);
      if (own === undefined) waiting.set(key, [item]);
      else own.push(item);
    },
    take() {
      for (const [key, own] of waiting) {
        const item = own.shift();
        // Moves the key behind all others.
        waiting.delete(key);
        if (own.length > 0) waiting.set(key, own);
        return item;
      }
      return undefined;
    },
    remove(key, item) {
      const own = waiting.get(key);
      const at = own?.indexOf(item) ?? -1;
      if (own === undefined || at === -1) return false;
      own.splice(at, 1);
      if (own.length === 0) waiting.delete(key);
      return true;
    },
  };
}
