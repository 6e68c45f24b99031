/** After SIGTERM new connections are still served for so long. */
const keepListeningMs = 5_000;

export type StopSignal = 'SIGTERM' | 'SIGINT';

/** The first signal that asks the process to end. */
export function stopSignal(): Promise<StopSignal> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => resolve(signal));
  });
}

/** Who presses Ctrl-C waits for nothing; who terminates a service has to tell its load balancers first. */
export function keepListeningAfter(signal: StopSignal): number {
  return signal === 'SIGTERM' ? keepListeningMs : 0;
}
