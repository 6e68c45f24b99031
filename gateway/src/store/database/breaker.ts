/** `slowMs`, `probeEveryMs`: milliseconds. */
export const breakerRules = Object.freeze({
  /** Fast failures in a row. They cost no request time. */
  failuresToOpen: 5,
  /** A single failure this slow opens the breaker, because the next one would be as slow. */
  slowMs: 500,
  probeEveryMs: 1_000,
});

/**
 * Runs `ask`, or fails at once while the breaker is open.
 * @throws the error of `ask`, or an Error that names the open breaker
 */
export type DatabaseBreaker = <Result>(ask: () => Promise<Result>) => Promise<Result>;

/**
 * Guards the look-ups that a request waits for. Each look-up in an unresponsive database costs a second or two until
 * its time-out. After one such failure, or five fast ones in a row, look-ups fail at once, except for one probe a
 * second.
 * @param now milliseconds of a monotonic clock
 */
export function createDatabaseBreaker(
  now: () => number = () => performance.now(),
): DatabaseBreaker {
  let failures = 0;
  let isOpen = false;
  let nextProbe = 0;
  let probing = false;
  return async (ask) => {
    const isProbe = isOpen;
    const startedAt = now();
    if (isProbe && (probing || startedAt < nextProbe)) {
      throw new Error('the database did not respond a moment ago');
    }
    if (isProbe) probing = true;
    try {
      const result = await ask();
      failures = 0;
      isOpen = false;
      return result;
    } catch (error) {
      failures += 1;
      const isSlow = now() - startedAt >= breakerRules.slowMs;
      isOpen ||= isSlow || failures >= breakerRules.failuresToOpen;
      nextProbe = now() + breakerRules.probeEveryMs;
      throw error;
    } finally {
      if (isProbe) probing = false;
    }
  };
}
