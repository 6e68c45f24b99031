import { Worker } from 'node:worker_threads';
import { createRestartBudget } from '#database/index.ts';

export interface ThreadOptions<Settings, From> {
  readonly name: 'writer' | 'applier';
  /** The initial data; read at each start. */
  readonly settings: () => Settings;
  readonly onMessage: (message: From) => void;
  /** The thread ended although nobody asked it to, after the last of its messages; another one is started. */
  readonly onDeath: (reason: string) => void;
}

export interface Thread<To> {
  /** False if no thread is running: the message is lost, as with a thread that dies over it. */
  post(message: To): boolean;
  /** Sends a last message, waits for the thread to end by itself, and terminates it if it does not in time. */
  end(last: To, timeoutMs: number): Promise<void>;
}

/**
 * A thread's objects are the lines of one batch, so a small space for young objects is enough. Without a limit it grows
 * like that of the main thread (`app/app.ts`) and takes another 15 MiB of an almost idle process.
 */
const maxYoungGenerationSizeMb = 6;

/** A journal thread that is restarted when it dies: at once, but only a few times per minute. */
export function startThread<Settings, To, From>(
  options: ThreadOptions<Settings, From>,
): Thread<To> {
  const { name, settings, onMessage, onDeath } = options;
  const restarts = createRestartBudget();
  let worker: Worker | null = null;
  let timer: NodeJS.Timeout | null = null;
  let ending = false;

  function start(): void {
    const startedWorker = new Worker(new URL(`./${name}.worker.ts`, import.meta.url), {
      workerData: settings(),
      name: `sluice-journal-${name}`,
      resourceLimits: { maxYoungGenerationSizeMb },
    });
    worker = startedWorker;
    let cause = 'no reason given';
    startedWorker.on('message', onMessage);
    startedWorker.on('error', (error: unknown) => {
      if (error instanceof Error) cause = error.message;
    });
    startedWorker.on('exit', () => {
      worker = null;
      if (ending) return;
      restart();
      onDeath(`the journal ${name} exited: ${cause}`);
    });
  }

  function restart(): void {
    const pause = restarts.take();
    if (pause === 0) start();
    else timer = setTimeout(restart, pause).unref();
  }

  start();
  return {
    post(message) {
      worker?.postMessage(message);
      return worker !== null;
    },
    async end(last, timeoutMs) {
      ending = true;
      if (timer !== null) clearTimeout(timer);
      const endingWorker = worker;
      if (endingWorker === null) return;
      const over = Promise.withResolvers<void>();
      endingWorker.once('exit', () => over.resolve());
      // Does not keep the process alive; the thread does while it is awaited.
      const late = setTimeout(over.resolve, Math.max(timeoutMs, 0)).unref();
      endingWorker.postMessage(last);
      await over.promise;
      clearTimeout(late);
      await endingWorker.terminate();
    },
  };
}
