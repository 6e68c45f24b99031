import { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';

export interface HeldThreads {
  /** Makes a thread die from inside: none of ours survives a message that is not one. */
  kill(name: string): Promise<void>;
  /** The next message of this kind that the thread sends does not arrive. */
  loseResponse(name: string, kind: string): void;
}

/** Takes hold of the threads that are started from now on, by their names. */
export function holdThreads(): HeldThreads {
  const threads = new Map<string, Worker>();
  const { emit } = Worker.prototype;
  let lost: { name: string; kind: string } | null = null;
  // Each says that it is online, before anything else.
  Worker.prototype.emit = function heard(this: Worker, event: string | symbol, ...rest: unknown[]) {
    const name = this.threadName ?? '';
    if (event === 'online') threads.set(name, this);
    const kind = event === 'message' ? (rest[0] as { kind?: string }).kind : undefined;
    if (lost !== null && threads.get(lost.name) === this && kind === lost.kind) {
      lost = null;
      return true;
    }
    return emit.call(this, event, ...rest);
  };
  onTestFinished(() => {
    Worker.prototype.emit = emit;
  });
  return {
    async kill(name) {
      // One that has just been started again may not be there yet.
      while (!threads.has(name)) await new Promise((resolve) => setTimeout(resolve, 5));
      const thread = threads.get(name) as Worker;
      threads.delete(name);
      const gone = new Promise<void>((resolve) => thread.once('exit', () => resolve()));
      thread.postMessage(null);
      await gone;
    },
    loseResponse(name, kind) {
      lost = { name, kind };
    },
  };
}
