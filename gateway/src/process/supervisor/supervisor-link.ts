import type { Config } from '#config/index.ts';
import type { FirstStart } from '#startup/index.ts';
import { isMessage, type FromWorker, type Question, type ToWorker } from './messages.ts';
import { createQuestions } from './questions.ts';

const problemsEveryMs = 1_000;

/** The worker's end of the channel to the supervisor. */
export interface SupervisorLink {
  readonly number: number;
  readonly config: Config;
  readonly firstStart: FirstStart;
  /** The problems of the supervisor and of all workers. */
  degraded(): readonly string[];
  /** Reports this worker's own problems from now on, within a second of each change. */
  watchProblems(read: () => readonly string[]): void;
  /** The metrics of all workers; null if the supervisor does not respond. */
  renderMetrics(): Promise<string | null>;
  /** The other workers, by way of the supervisor. */
  readonly peers: {
    send(value: unknown): void;
    /** `Value`: what they send to each other; all of them run the same version. */
    listen<Value>(listener: (value: Value) => void): void;
  };
  /** Reports that connections are served; from now on questions are answered. */
  listening(greeting: string, answer: (question: Question) => Promise<unknown>): void;
  /** Resolves when the worker must stop. */
  readonly stop: Promise<{ readonly keepListening: number }>;
  /** Resolves when it must not wait any longer for what still runs. */
  readonly hurry: Promise<void>;
  /** Lets the process end if nothing else keeps it alive. */
  leave(): void;
}

/**
 * Waits for the supervisor's first message. Signals are left to the supervisor: a terminal or a service manager sends
 * them to all processes, and workers would act on them a second time.
 */
export async function connectToSupervisor(number: number): Promise<SupervisorLink> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const beginning = Promise.withResolvers<ToWorker & { kind: 'begin' }>();
  const stop = Promise.withResolvers<{ readonly keepListening: number }>();
  const send = (message: FromWorker): void => void process.send?.(message, () => {});
  const hurry = Promise.withResolvers<void>();
  const questions = createQuestions(send);
  let degraded: readonly string[] = [];
  let hearPeers: (value: unknown) => void = () => {};
  let answer: ((question: Question) => Promise<unknown>) | null = null;

  process.on('message', (value: unknown) => {
    if (!isMessage(value)) return;
    const message = value as ToWorker;
    if (message.kind === 'begin') beginning.resolve(message);
    else if (message.kind === 'stop') stop.resolve(message);
    else if (message.kind === 'hurry') hurry.resolve();
    else if (message.kind === 'degraded') ({ degraded } = message);
    else if (message.kind === 'peers') hearPeers(message.value);
    else if (message.kind === 'answer') questions.answered(message);
    else {
      const { id, question } = message;
      const answered = answer?.(question) ?? Promise.resolve(null);
      void answered
        .catch((error: unknown) => (question === 'refresh' ? sentenceOf(error) : null))
        .then((result) => send({ kind: 'answer', id, value: result }));
    }
  });

  send({ kind: 'ready' });
  const { config, firstStart, degraded: knownProblems } = await beginning.promise;
  degraded = knownProblems;
  return {
    number,
    config,
    firstStart,
    degraded: () => degraded,
    watchProblems(read) {
      let reported = '[]';
      const report = (): void => {
        const problems = read();
        const text = JSON.stringify(problems);
        if (text !== reported) send({ kind: 'degraded', degraded: problems });
        reported = text;
      };
      setInterval(report, problemsEveryMs).unref();
    },
    renderMetrics: async () => (await questions.ask('metrics')) as string | null,
    peers: {
      send: (value) => send({ kind: 'peers', value }),
      listen: (listener) => void (hearPeers = listener as typeof hearPeers),
    },
    listening(greeting, answerTo) {
      answer = answerTo;
      send({ kind: 'listening', greeting });
    },
    stop: stop.promise,
    hurry: hurry.promise,
    leave: () => process.channel?.unref(),
  };
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : 'a worker could not be notified';
}
