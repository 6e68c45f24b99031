/** The time of the simulated vendors. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Makes every task older at once. */
  advance(milliseconds: number): void;
}

/** A clock that runs, and that tests can put forward. */
export function createClock(base: () => number): Clock {
  let ahead = 0;
  return {
    now: () => base() + ahead,
    advance(milliseconds) {
      ahead += milliseconds;
    },
  };
}
