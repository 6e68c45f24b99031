const minuteMs = 60_000;
const defaultMost = 4;

export interface RestartBudget {
  /** Milliseconds until the next start is allowed; 0: it is, and is counted. */
  take(): number;
}

/**
 * How often a thread that dies is started again: at once, but only so many times a minute, since one that dies of
 * how it is started would otherwise do nothing else.
 * @param now milliseconds of a clock that does not step
 */
export function createRestartBudget(
  now: () => number = () => performance.now(),
  most = defaultMost,
): RestartBudget {
  let starts: number[] = [];
  return {
    take() {
      const time = now();
      starts = starts.filter((start) => time - start < minuteMs);
      const [oldest] = starts;
      if (oldest !== undefined && starts.length >= most) return oldest + minuteMs - time;
      starts.push(time);
      return 0;
    },
  };
}
