import type { Logger } from '#observability/index.ts';
import type { FromWorker, Question, ToWorker } from './messages.ts';
import { createQuestions, type Questions } from './questions.ts';

/** A process as the supervisor sees it. */
export interface WorkerProcess {
  send(message: ToWorker): void;
}

export interface WorkerEvents {
  onMessage(message: FromWorker): void;
  /** `code` null: a signal ended it. */
  onExit(code: number | null): void;
}

export interface WorkerPoolOptions {
  readonly size: number;
  /** Starts the process of a worker number, counted from 1. */
  readonly fork: (number: number, events: WorkerEvents) => WorkerProcess;
  /** The first message to each process, sent when it is ready. */
  readonly begin: (degraded: readonly string[]) => ToWorker;
  /** The supervisor's own problems. */
  readonly problems: () => readonly string[];
  /** The metrics of all workers, for a worker that was asked. */
  readonly renderMetrics: () => Promise<string | null>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic?: () => number;
}

/** Numbered workers; a dead one is soon replaced. */
export interface WorkerPool {
  /**
   * Starts one worker, and the others once it listens. Returns its greeting when every worker has been started once.
   * @throws Error if the first worker ends before it listens.
   */
  start(): Promise<string>;
  /** Tells the workers of the supervisor's problems, which have changed, beside their own. */
  announceProblems(): void;
  /** Asks every listening worker; those that do not respond in time are left out. */
  askAll(question: Question): Promise<unknown[]>;
  /**
   * Lets every worker end by itself. True if all of them ended well.
   * @param hurry resolves when they must not wait any longer for what still runs
   */
  stop(keepListening: number, hurry?: Promise<void>): Promise<boolean>;
}

interface PoolWorker {
  readonly number: number;
  readonly process: WorkerProcess;
  readonly questions: Questions;
  readonly startedAt: number;
  state: 'starting' | 'ready' | 'listening';
  problems: readonly string[];
}

/** No worker runs until `start`. */
export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  const { size, fork, begin, problems, renderMetrics, log } = options;
  const { monotonic = () => performance.now() } = options;
  const workers = new Map<number, PoolWorker>();
  const timers = new Set<NodeJS.Timeout>();
  const backOffs = Array.from({ length: size + 1 }, createBackOff);
  let serving = false;
  /** Sent to every worker, including those that become ready later. */
  let stopping: ToWorker | null = null;
  let allWell = true;
  let onEmpty = () => {};

  /** @param first called once with the greeting, or with null if the worker ended before */
  function take(number: number, first: (greeting: string | null) => void): void {
    const process = fork(number, {
      onMessage: (message) => receive(worker, message, first),
      onExit(code) {
        workers.delete(number);
        if (worker.problems.length > 0) announceProblems();
        worker.questions.end();
        first(null);
        if (stopping !== null) noteExit(worker, code);
        else if (serving) replace(worker, code);
      },
    });
    const questions = createQuestions((ask) => process.send(ask));
    const worker: PoolWorker = {
      number,
      process,
      questions,
      startedAt: monotonic(),
      state: 'starting',
      problems: [],
    };
    workers.set(number, worker);
  }

  function receive(
    worker: PoolWorker,
    message: FromWorker,
    first: (greeting: string) => void,
  ): void {
    if (message.kind === 'ready') {
      worker.state = 'ready';
      worker.process.send(begin(degraded()));
      if (stopping !== null) worker.process.send(stopping);
    } else if (message.kind === 'listening') {
      worker.state = 'listening';
      first(message.greeting);
    } else if (message.kind === 'answer') {
      worker.questions.answered(message);
    } else if (message.kind === 'degraded') {
      worker.problems = message.degraded;
      announceProblems();
    } else if (message.kind === 'peers') {
      for (const { number, state, process } of workers.values())
        if (number !== worker.number && state === 'listening') process.send(message);
    } else {
      // A worker that receives null reports its own metrics.
      const renderedMetrics = renderMetrics().catch(() => null);
      void renderedMetrics.then((value) => {
        if (workers.get(worker.number) === worker) {
          worker.process.send({ kind: 'answer', id: message.id, value });
        }
      });
    }
  }

  function noteExit({ state }: PoolWorker, code: number | null): void {
    // A worker that was still starting may not have been able to handle a signal.
    if (state === 'listening' && code !== 0) allWell = false;
    if (workers.size === 0) onEmpty();
  }

  function replace({ number, startedAt }: PoolWorker, code: number | null): void {
    const pause = backOffs[number]!(monotonic() - startedAt);
    log.warn('a worker died; starting its replacement', {
      component: 'supervisor',
      detail: `worker ${number}, ${code === null ? 'killed by a signal' : `exit code ${code}`}`,
      durationMs: pause,
    });
    const timer = setTimeout(() => {
      timers.delete(timer);
      take(number, () => {});
    }, pause);
    timers.add(timer);
  }

  const degraded = (): readonly string[] => [
    ...new Set([problems(), ...workers.values().map((worker) => worker.problems)].flat()),
  ];

  function announceProblems(): void {
    broadcast({ kind: 'degraded', degraded: degraded() });
  }

  function broadcast(message: ToWorker): void {
    for (const { process, state } of workers.values())
      if (state !== 'starting') process.send(message);
  }

  const takeOnce = (number: number): Promise<string | null> =>
    new Promise((resolve) => take(number, resolve));

  return {
    async start() {
      const greeting = await takeOnce(1);
      if (greeting === null) throw new Error('the first worker could not start');
      serving = true;
      const others = Array.from({ length: size - 1 }, (_, index) => takeOnce(index + 2));
      await Promise.all(others);
      return greeting;
    },
    announceProblems,
    async askAll(question) {
      const listeningWorkers = [...workers.values()].filter(({ state }) => state === 'listening');
      const replies = await Promise.all(
        listeningWorkers.map(({ questions }) => questions.ask(question)),
      );
      return replies.filter((reply) => reply !== null);
    },
    async stop(keepListening, hurry) {
      void hurry?.then(() => broadcast({ kind: 'hurry' }));
      stopping = { kind: 'stop', keepListening };
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      if (workers.size > 0) {
        await new Promise<void>((resolve) => {
          onEmpty = resolve;
          broadcast({ kind: 'stop', keepListening });
        });
      }
      return allWell;
    },
  };
}

/** Milliseconds. */
const shortest = 500;
const longest = 30_000;
/** A worker that lived this long did not die of its start. */
const goodLife = 60_000;

/** How long to wait before a dead worker is restarted: longer each time it died young. */
export function createBackOff(): (livedFor: number) => number {
  let deaths = 0;
  return (livedFor) => {
    deaths = livedFor >= goodLife ? 1 : deaths + 1;
    return Math.min(shortest * 2 ** (deaths - 1), longest);
  };
}
