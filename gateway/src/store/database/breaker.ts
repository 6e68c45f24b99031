/** `slowMs`, `probeEveryMs`: milliseconds. */
export const breakerRules = Object.freeze({
  /** Quick failures in a row. They cost nobody time. */
  failuresToOpen: 5,
  /** One failure that took so long, and so would the next. */
  slowMs: 500,
  probeEveryMs: 1_000,
});

/**
 * Asks, or fails at once because the database has failed to answer.
 * @throws what `ask` threw, or an Error that says so.
 */
export type DatabaseBreaker = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

/**
 * For what a request has to wait for. A database that does not answer costs a second or two each time (its time-outs).
 * After one such failure, or five quick ones in a row, nobody waits for it any more, except one question a second that
 * finds out whether it is back.
 * @param now milliseconds of a clock that does not step
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
      const answer = await ask();
      failures = 0;
      isOpen = false;
      return answer;
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
