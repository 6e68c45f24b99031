/** The part of itself by which each answer moves the estimate. */
const step = 0.05;

/**
 * Follows the median of a channel's times without keeping them: every one longer than the estimate pushes it up a
 * little, every shorter one down, so it rests where both are equally many.
 */
export class UsualTime {
  #milliseconds: number | null = null;

  /** Null until something has been seen. */
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
    // Never past the observation itself, or equal times would make it swing.
    this.#milliseconds += Math.sign(change) * Math.min(distance, Math.abs(change));
  }
}
