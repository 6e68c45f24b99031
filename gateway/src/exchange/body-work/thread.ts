import { Worker, type Transferable } from 'node:worker_threads';
import { startDeadline, type Deadline } from './deadline.ts';

/** Messages between a pool and its threads. Bytes are transferred, not copied: `transfer` lists them. */
export type ToThread =
  | { readonly kind: 'task'; readonly task: unknown }
  | { readonly kind: 'reply'; readonly reply: unknown };

export type FromThread =
  | { readonly kind: 'ready' }
  /** Asks the main thread for something that only it has; the job waits for the reply. */
  | { readonly kind: 'question'; readonly question: unknown }
  | { readonly kind: 'done'; readonly result: unknown };

/** A message and the memory transferred with it. */
export interface Handed<Message> {
  readonly message: Message;
  readonly transfer: Transferable[];
}

/** Why a task has no result. */
export class ThreadFailure extends Error {
  /**
   * `deadline`, `memory`: the task was too much for its thread. `ended`: the pool was closed, or the caller ended the
   * task. `defect`: the thread died of a defect of the gateway.
   */
  readonly reason: 'deadline' | 'memory' | 'ended' | 'defect';

  constructor(reason: ThreadFailure['reason'], cause?: unknown) {
    super(`a thread for large bodies failed: ${reason}`, cause === undefined ? {} : { cause });
    this.name = 'ThreadFailure';
    this.reason = reason;
  }
}

/** A task for a thread. */
export interface Task {
  readonly handed: Handed<unknown>;
  /** Limit in milliseconds of the thread's own time. */
  readonly deadline: number;
  /** Answers a question of the thread during the task. An error that it throws is a defect. */
  readonly answer?: (question: unknown) => Promise<Handed<unknown>>;
  /** Set by the pool. */
  readonly onResult?: (result: unknown) => void;
  readonly onFailure?: (error: Error) => void;
}

export interface ThreadOptions {
  readonly file: URL;
  readonly name: string;
  /** Plain data that every thread starts with. */
  readonly workerData: unknown;
  /** Heap limit of a thread in MiB; a thread that needs more ends. */
  readonly heap: number;
  /** Receives the error of a thread that died without having been given too much. */
  readonly onProblem: (error: unknown) => void;
  readonly onFree: () => void;
  /** Called when it has ended, for any reason. */
  readonly onEnd: () => void;
}

/** A thread that runs one task at a time. If it ends or is ended, only its current task fails. */
export interface Thread {
  start(task: Task): void;
  end(): Promise<void>;
}

/** The longest the first task waits for the thread to start, in milliseconds. */
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
    const failedTask = task;
    task = null;
    failedTask?.onFailure?.(error);
  };
  const reply = async (askingTask: Task, question: unknown): Promise<void> => {
    deadline?.pause();
    try {
      if (askingTask.answer === undefined) throw new Error('a thread asked what nobody answers');
      const { message, transfer } = await askingTask.answer(question);
      if (task !== askingTask) return;
      deadline?.resume();
      tell({ message: { kind: 'reply', reply: message }, transfer });
    } catch (error) {
      onProblem(error);
      if (task === askingTask) endWith(new ThreadFailure('defect', error));
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
        const doneTask = task;
        task = null;
        doneTask.onResult?.(message.result);
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
    start(nextTask) {
      task = nextTask;
      // The start-up time does not count against the task.
      watchTime(isReady ? nextTask.deadline : startMs);
      const { message, transfer } = nextTask.handed;
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
