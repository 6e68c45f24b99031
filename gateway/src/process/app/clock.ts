/** Unix milliseconds, and milliseconds of a monotonic clock. */
export const clock = Object.freeze({ now: Date.now, monotonic: () => performance.now() });
