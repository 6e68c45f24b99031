/** After SIGTERM new connections are still served for so long. */
const keepListeningMs = 5_000;

export type StopSignal = 'SIGTERM' | 'SIGINT';

export type StopReason = StopSignal | 'uncaught exception';

/** A signal so soon after the first is the same one: sent to a whole group of processes, and passed on by one of them. */
const sameMs = 1_000;

export interface StopSignals {
  /** The first signal that asks the process to end. */
  readonly stop: Promise<StopSignal>;
  /** Whoever asks again does not want to wait. A third time the system ends the process. */
  readonly hurry: Promise<void>;
}

export function stopSignals(): StopSignals {
  const stop = Promise.withResolvers<StopSignal>();
  const hurry = Promise.withResolvers<void>();
  const signals = ['SIGTERM', 'SIGINT'] as const;
  let firstAt: number | null = null;
  const onSignal = (signal: StopSignal): void => {
    firstAt ??= performance.now();
    stop.resolve(signal);
    if (performance.now() - firstAt < sameMs) return;
    hurry.resolve();
    for (const each of signals) process.off(each, onSignal);
  };
  for (const each of signals) process.on(each, onSignal);
  return { stop: stop.promise, hurry: hurry.promise };
}

/** Who presses Ctrl-C waits for nothing; who terminates a service, or has to end, tells its load balancers first. */
export function keepListeningAfter(reason: StopReason): number {
  return reason === 'SIGINT' ? 0 : keepListeningMs;
}
