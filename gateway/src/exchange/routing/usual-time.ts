/** The fraction by which each observation moves the estimate. */
const step = 0.05;

/**
 * Tracks the median of a channel's times without storing them: a longer time moves the estimate up a little, a shorter
 * one down, so it settles where both are equally frequent.
 */
export class UsualTime {
  #milliseconds: number | null = null;

  /** Null before the first observation. */
  get milliseconds(): number | null {
    return this.#milliseconds;
  }

  saw(milliseconds: number): void {
    if (this.#milliseconds === null) {
      this.#milliseconds = milliseconds;
      return;
    }
    const distance = Math.max(1, this.#milliseconds * step);
    const change = milliseconds - this.#milliseconds;
    // Never moves past the observation itself, or equal times would make it oscillate.
    this.#milliseconds += Math.sign(change) * Math.min(distance, Math.abs(change));
  }
}
