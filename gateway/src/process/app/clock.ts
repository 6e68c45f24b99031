/** Unix milliseconds, and milliseconds that never step. */
export const clock = Object.freeze({ now: Date.now, monotonic: () => performance.now() });
