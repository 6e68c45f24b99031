/** `…Ms`: milliseconds. */
export const breakerRules = Object.freeze({
  /** Fast failures in a row. They cost no request time. */
  failuresToOpen: 5,
  /** A single failure this slow opens the breaker, because the next one would be as slow. */
  slowMs: 500,
  probeEveryMs: 1_000,
  /** For as long as this after the first failure look-ups wait, as holds of money do: the database may only restart. */
  restartMs: 3_000,
  /** How often it is asked meanwhile. */
  restartAskMs: 100,
  /** Look-ups that wait at the same time. Others fail at once. */
  mostWaiting: 1_000,
  /** A failure that is older says nothing about the database any more. */
  recentMs: 60_000,
});

/**
 * Runs `ask`, and repeats it while the database may only be restarting.
 * @throws the error of `ask`, or an Error that names the open breaker
 */
export type DatabaseBreaker = <Result>(ask: () => Promise<Result>) => Promise<Result>;

/**
 * Guards the look-ups that a request waits for. Each look-up in an unresponsive database costs a second or two until
 * its time-out. After one such failure, or five fast ones in a row, nobody asks except for one probe at a time. For three
 * seconds the others wait for its result; after that they fail at once, and there is a probe every second.
 * @param now milliseconds of a monotonic clock
 */
export function createDatabaseBreaker(
  now: () => number = () => performance.now(),
): DatabaseBreaker {
  const rules = breakerRules;
  let failures = 0;
  /** When the first query was sent that failed; null: the last one succeeded. */
  let failingSince: number | null = null;
  let isOpen = false;
  let nextProbe = 0;
  let probing = false;
  let waiting = 0;

  const mayRestart = () => failingSince !== null && now() < failingSince + rules.restartMs;

  function noteFailure(startedAt: number): void {
    const isFirst = failingSince === null || startedAt >= nextProbe + rules.recentMs;
    if (isFirst) failingSince = startedAt;
    failures += 1;
    isOpen ||= now() - startedAt >= rules.slowMs || failures >= rules.failuresToOpen;
    nextProbe = now() + (mayRestart() ? rules.restartAskMs : rules.probeEveryMs);
  }

  /** @throws the reason at once if the database is not restarting, or too many wait */
  async function waitAfter(reason: unknown): Promise<void> {
    if (!mayRestart() || waiting >= rules.mostWaiting) throw reason;
    waiting += 1;
    await new Promise((resolve) => setTimeout(resolve, rules.restartAskMs));
    waiting -= 1;
  }

  return async (ask) => {
    for (;;) {
      const startedAt = now();
      const isProbe = isOpen;
      let reason: unknown;
      if (isProbe && (probing || startedAt < nextProbe)) {
        reason = new Error('the database did not respond a moment ago');
      } else {
        if (isProbe) probing = true;
        try {
          const result = await ask();
          failures = 0;
          failingSince = null;
          isOpen = false;
          return result;
        } catch (error) {
          noteFailure(startedAt);
          reason = error;
        } finally {
          if (isProbe) probing = false;
        }
      }
      await waitAfter(reason);
    }
  };
}
