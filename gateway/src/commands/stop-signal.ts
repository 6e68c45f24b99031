/** After SIGTERM new connections are still served for so long. */
const keepListeningMs = 5_000;

export type StopSignal = 'SIGTERM' | 'SIGINT';

export type StopReason = StopSignal | 'uncaught exception';

/** The first signal that asks the process to end. */
export function stopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => resolve(signal));
  });
}

/** Who presses Ctrl-C waits for nothing; who terminates a service, or has to end, tells its load balancers first. */
export function keepListeningAfter(reason: StopReason): number {
  return reason === 'SIGINT' ? 0 : keepListeningMs;
}
