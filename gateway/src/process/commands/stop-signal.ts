import { constants } from 'node:os';
import { onStarterEnded } from './starter.ts';

/** How long new connections are still served after SIGTERM. */
const keepListeningMs = 5_000;

export type StopSignal = 'SIGTERM' | 'SIGINT';

export type StopReason = StopSignal | 'parent ended' | 'uncaught exception';

/**
 * A signal so soon after the first is the same one: sent to a whole process group, and forwarded by one of the
 * processes.
 */
const sameMs = 1_000;

export interface StopSignals {
  /** The first signal that asks the process to stop, or the end of the program that started it. */
  readonly stop: Promise<StopSignal | 'parent ended'>;
  /** Resolves at a second signal: stop without waiting. A third one makes the system end the process. */
  readonly hurry: Promise<void>;
}

const signals = ['SIGTERM', 'SIGINT'] as const;

function endAtOnce(signal: StopSignal): void {
  process.exit(128 + constants.signals[signal]);
}

/**
 * Makes a signal end this process at once if it is the first one of a container: there the system ignores signals that
 * are not handled, and whoever stops the container would wait until it may kill it.
 * @param pid of this process
 */
export function endOnSignals(pid: number = process.pid): void {
  if (pid !== 1) return;
  for (const each of signals) process.on(each, endAtOnce);
}

/** Listens to the signals from here on, instead of ending at once. */
export function stopSignals(): StopSignals {
  const stop = Promise.withResolvers<StopSignal | 'parent ended'>();
  const hurry = Promise.withResolvers<void>();
  let firstAt: number | null = null;
  const onSignal = (signal: StopSignal): void => {
    firstAt ??= performance.now();
    stop.resolve(signal);
    if (performance.now() - firstAt < sameMs) return;
    hurry.resolve();
    for (const each of signals) process.off(each, onSignal);
    endOnSignals();
  };
  for (const each of signals) process.off(each, endAtOnce).on(each, onSignal);
  onStarterEnded(() => stop.resolve('parent ended'));
  return { stop: stop.promise, hurry: hurry.promise };
}

/**
 * After Ctrl-C nothing waits, and the next `npm start` needs the port; after a service manager's stop, load balancers
 * get time to notice.
 */
export function keepListeningAfter(reason: StopReason): number {
  return reason === 'SIGINT' || reason === 'parent ended' ? 0 : keepListeningMs;
}
