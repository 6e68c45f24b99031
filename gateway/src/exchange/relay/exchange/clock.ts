export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a clock that never steps. */
  monotonic(): number;
}
