const minuteMs = 60_000;
const defaultMost = 4;

export interface RestartBudget {
  /** Milliseconds until the next restart is allowed. 0: it is allowed, and counted. */
  take(): number;
}

/**
 * Limits the restarts of a thread that dies: the first ones come at once, but only a few per minute, because a thread
 * that dies at start-up would otherwise restart forever.
 * @param now milliseconds of a monotonic clock
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
