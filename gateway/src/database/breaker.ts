/** Milliseconds. */
export const breakerRules = Object.freeze({ failuresToOpen: 5, probeEveryMs: 1_000 });

/**
 * Asks, or fails at once because the database has failed to answer too often.
 * @throws what `ask` threw, or an Error that says so.
 */
export type DatabaseBreaker = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

/**
 * For what a request has to wait for. A database that does not answer costs a second each time (its statement
 * time-out); after five failures in a row nobody waits for it any more, except one question a second that finds out
 * whether it is back.
 * @param now milliseconds of a clock that does not step
 */
export function createDatabaseBreaker(
  now: () => number = () => performance.now(),
): DatabaseBreaker {
  let failures = 0;
  let nextProbe = 0;
  let probing = false;
  return async (ask) => {
    const isProbe = failures >= breakerRules.failuresToOpen;
    if (isProbe && (probing || now() < nextProbe)) {
      throw new Error(`the database has failed ${failures} times in a row`);
    }
    if (isProbe) probing = true;
    try {
      const answer = await ask();
      failures = 0;
      return answer;
    } catch (error) {
      failures += 1;
      nextProbe = now() + breakerRules.probeEveryMs;
      throw error;
    } finally {
      if (isProbe) probing = false;
    }
  };
}
