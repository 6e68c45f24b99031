import { Worker } from 'node:worker_threads';
import { startDeadline, type Deadline } from './deadline.ts';
import type { FromThread, Handed, ToThread } from './messages.ts';
import { ThreadFailure } from './thread-failure.ts';

/** One piece of work. */
export interface Task {
  readonly handed: Handed<unknown>;
  /** Milliseconds of the thread's own time after which it is ended. */
  readonly deadline: number;
  /** Answers what the thread asks on its way. What it throws is a defect. */
  readonly answer?: (question: unknown) => Promise<Handed<unknown>>;
  /** Set by the pool. */
  readonly onResult?: (result: unknown) => void;
  readonly onFailure?: (error: Error) => void;
}

export interface ThreadOptions {
  readonly file: URL;
  readonly name: string;
  /** Plain data that every thread begins with. */
  readonly workerData: unknown;
  /** MiB of values that a thread may hold; one that needs more ends. */
  readonly heap: number;
  /** What a thread died of that nobody had asked too much of. */
  readonly onProblem: (error: unknown) => void;
  readonly onFree: () => void;
  /** Told when it has ended, whatever of. */
  readonly onEnd: () => void;
}

/** A thread that does one task at a time. One that ends, or is ended, fails only the task it had. */
export interface Thread {
  start(task: Task): void;
  end(): Promise<void>;
}

/** The first task may wait for the thread to start, so many milliseconds at most. */
const startMs = 30_000;

export function createThread(options: ThreadOptions): Thread {
  const { file, name, workerData, heap, onProblem, onFree, onEnd } = options;
  const worker = new Worker(file, {
    name,
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: heap },
  });
  worker.unref();
  let isReady = false;
  let task: Task | null = null;
  let deadline: Deadline | null = null;
  let failure: ThreadFailure | null = null;

  const tell = ({ message, transfer }: Handed<ToThread>): void =>
    worker.postMessage(message, transfer);
  const watchTime = (ms: number): void => {
    deadline?.end();
    deadline = startDeadline(worker, ms, () => endWith(new ThreadFailure('deadline')));
  };
  const endWith = (reason: ThreadFailure): void => {
    failure ??= reason;
    fail(failure);
    void worker.terminate();
  };
  const fail = (error: Error): void => {
    deadline?.end();
    const failed = task;
    task = null;
    failed?.onFailure?.(error);
  };
  const reply = async (asked: Task, question: unknown): Promise<void> => {
    deadline?.pause();
    try {
      if (asked.answer === undefined) throw new Error('a thread asked what nobody answers');
      const { message, transfer } = await asked.answer(question);
      if (task !== asked) return;
      deadline?.resume();
      tell({ message: { kind: 'reply', reply: message }, transfer });
    } catch (error) {
      onProblem(error);
      if (task === asked) endWith(new ThreadFailure('defect', error));
    }
  };

  worker.on('message', (message: FromThread) => {
    switch (message.kind) {
      case 'ready':
        isReady = true;
        if (task !== null) watchTime(task.deadline);
        return;
      case 'question':
        if (task !== null) void reply(task, message.question);
        return;
      case 'done': {
        if (task === null) return;
        deadline?.end();
        const done = task;
        task = null;
        done.onResult?.(message.result);
        onFree();
      }
    }
  });
  worker.on('error', (error: NodeJS.ErrnoException) => {
    const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
    failure ??= new ThreadFailure(isMemory ? 'memory' : 'defect', error);
    if (!isMemory) onProblem(error);
  });
  worker.on('exit', () => {
    fail(failure ?? new ThreadFailure('defect'));
    onEnd();
  });

  return {
    start(given) {
      task = given;
      // What it takes to start is not the task's doing.
      watchTime(isReady ? given.deadline : startMs);
      const { message, transfer } = given.handed;
      try {
        tell({ message: { kind: 'task', task: message }, transfer });
      } catch (error) {
        onProblem(error);
        endWith(new ThreadFailure('defect', error));
      }
    },
    async end() {
      failure ??= new ThreadFailure('ended');
      await worker.terminate();
    },
  };
}
