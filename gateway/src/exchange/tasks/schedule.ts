/** Milliseconds. */
export const lookRules = Object.freeze({
  /** How long a node may submit or look at a task before another one may, by the clock of the database. */
  lease: 30_000,
  /** A look that is not over by then has failed; well before its lease ends. */
  longest: 15_000,
  /** The longest pause after failed looks. */
  mostBackOff: 600_000,
  /** The looks at a task that has expired, counted from its end. */
  late: [600_000, 3_600_000] as readonly number[],
  /** A task that its owner asks for is looked at first if the last look is older. */
  fresh: 5_000,
  /** How long a channel rests that says it is asked too often, but not until when. */
  rest: 10_000,
  /** The longest that a channel is believed to rest. */
  mostRest: 600_000,
});

/** Unix milliseconds; `pollInterval` and `expireAfter`: milliseconds. */
export interface Schedule {
  readonly pollInterval: number;
  readonly expireAfter: number;
}

interface Timed {
  readonly created_at: number;
}

/** When a task counts as expired. */
export const expiryOf = ({ created_at }: Timed, { expireAfter }: Schedule): number =>
  created_at + expireAfter;

/** When to look again after a look that was answered. The last look is never later than its end. */
export function nextLook(task: Timed, schedule: Schedule, now: number): number {
  return untilExpiry(task, schedule, now, schedule.pollInterval);
}

/** When to look again after this many failed looks in a row. @param failedLooks at least 1 */
export function nextTry(task: Timed, schedule: Schedule, now: number, failedLooks: number): number {
  const { pollInterval } = schedule;
  const pause = Math.min(pollInterval * 2 ** (failedLooks - 1), lookRules.mostBackOff);
  return untilExpiry(task, schedule, now, Math.max(pause, pollInterval));
}

/** When to look after the end of an expired task. @param lateLooks late looks so far. Null: never again. */
export function nextLateLook(endedAt: number, lateLooks: number): number | null {
  const after = lookRules.late[lateLooks];
  return after === undefined ? null : endedAt + after;
}

function untilExpiry(task: Timed, schedule: Schedule, now: number, pause: number): number {
  const expiry = expiryOf(task, schedule);
  return now < expiry ? Math.min(now + pause, expiry) : now + pause;
}
