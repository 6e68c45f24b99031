import type { Logger } from '#observability/index.ts';
import { createBackOff } from './back-off.ts';
import type { FromWorker, Question, ToWorker } from './messages.ts';
import { createQuestions, type Questions } from './questions.ts';

/** A process as the crew sees it. */
export interface WorkerProcess {
  send(message: ToWorker): void;
}

export interface WorkerEvents {
  onMessage(message: FromWorker): void;
  /** `code` null: ended by a signal. */
  onExit(code: number | null): void;
}

export interface CrewOptions {
  readonly size: number;
  /** Starts a process for a seat, from 1. */
  readonly fork: (seat: number, events: WorkerEvents) => WorkerProcess;
  /** The first message to each process, when it says that it is ready. */
  readonly begin: () => ToWorker;
  /** All that is to be known of all workers, when one of them is asked. */
  readonly renderMetrics: () => Promise<string | null>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Milliseconds of a clock that does not step. */
  readonly monotonic?: () => number;
}

/** Workers on numbered seats; a seat never stays empty for long. */
export interface Crew {
  /**
   * Starts one worker, and the others when it listens. Gives its greeting when every seat has been taken once.
   * @throws Error when the first worker ends before it listens.
   */
  start(): Promise<string>;
  /** To those that are ready. */
  broadcast(message: ToWorker): void;
  /** Asks every worker that listens; those that do not answer in time are left out. */
  askAll(question: Question): Promise<unknown[]>;
  /**
   * Lets every worker end by itself. True when each of them did so well.
   * @param hurry when they are to wait no longer for what still runs
   */
  stop(keepListening: number, hurry?: Promise<void>): Promise<boolean>;
}

interface Seat {
  readonly number: number;
  readonly process: WorkerProcess;
  readonly questions: Questions;
  readonly startedAt: number;
  state: 'starting' | 'ready' | 'listening';
}

/** All seats empty until `start`. */
export function createCrew(options: CrewOptions): Crew {
  const { size, fork, begin, renderMetrics, log } = options;
  const { monotonic = () => performance.now() } = options;
  const seats = new Map<number, Seat>();
  const timers = new Set<NodeJS.Timeout>();
  const backOffs = Array.from({ length: size + 1 }, createBackOff);
  let serving = false;
  /** What every worker is told, also those that come to their seats only now. */
  let stopping: ToWorker | null = null;
  let allWell = true;
  let onEmpty = () => {};

  /** @param first told once: the greeting, or null when it ended before. */
  function take(number: number, first: (greeting: string | null) => void): void {
    const process = fork(number, {
      onMessage: (message) => receive(seat, message, first),
      onExit(code) {
        seats.delete(number);
        seat.questions.end();
        first(null);
        if (stopping !== null) ended(seat, code);
        else if (serving) replace(seat, code);
      },
    });
    const questions = createQuestions((ask) => process.send(ask));
    const seat: Seat = { number, process, questions, startedAt: monotonic(), state: 'starting' };
    seats.set(number, seat);
  }

  function receive(seat: Seat, message: FromWorker, first: (greeting: string) => void): void {
    if (message.kind === 'ready') {
      seat.state = 'ready';
      seat.process.send(begin());
      if (stopping !== null) seat.process.send(stopping);
    } else if (message.kind === 'listening') {
      seat.state = 'listening';
      first(message.greeting);
    } else if (message.kind === 'answer') {
      seat.questions.answered(message);
    } else {
      // A worker that gets nothing tells of itself.
      const rendered = renderMetrics().catch(() => null);
      void rendered.then((value) => {
        if (seats.get(seat.number) === seat) {
          seat.process.send({ kind: 'answer', id: message.id, value });
        }
      });
    }
  }

  function ended({ state }: Seat, code: number | null): void {
    // One that was only starting may not have been able to take a signal.
    if (state === 'listening' && code !== 0) allWell = false;
    if (seats.size === 0) onEmpty();
  }

  function replace({ number, startedAt }: Seat, code: number | null): void {
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

  function broadcast(message: ToWorker): void {
    for (const { process, state } of seats.values())
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
    broadcast,
    async askAll(question) {
      const asked = [...seats.values()].filter(({ state }) => state === 'listening');
      const answers = await Promise.all(asked.map(({ questions }) => questions.ask(question)));
      return answers.filter((answer) => answer !== null);
    },
    async stop(keepListening, hurry) {
      void hurry?.then(() => broadcast({ kind: 'hurry' }));
      stopping = { kind: 'stop', keepListening };
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
      if (seats.size > 0) {
        await new Promise<void>((resolve) => {
          onEmpty = resolve;
          broadcast({ kind: 'stop', keepListening });
        });
      }
      return allWell;
    },
  };
}
