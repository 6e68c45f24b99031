/** The rules of ejection, after Envoy's outlier detection. Milliseconds. */
export const breakerRules = Object.freeze({
  faultsToEject: 5,
  /** Times the number of ejections in a row. */
  ejectionMs: 30_000,
  longestEjectionMs: 300_000,
  /** After so long in use the earlier ejections are forgotten. */
  forgetAfterMs: 300_000,
});

/** `probe-due`: the time of the ejection is over, and nobody has yet tried what became of it. */
export type Standing = 'in-use' | 'ejected' | 'probe-due';

/** How an attempt was let through. What comes of it counts only while the breaker is in that same state. */
export interface Leave {
  readonly generation: number;
  readonly probe: boolean;
}

/**
 * Counts the faults of one channel and says whether it is better left alone. Knows neither other channels nor
 * requests; whoever asks decides what to do when there is nothing else.
 */
export class Breaker {
  #faults = 0;
  #generation = 0;
  #ejected = false;
  #ejections = 0;
  #ejectedAt = 0;
  #until = 0;
  #probing = false;
  #backSince = Number.NEGATIVE_INFINITY;

  /** Rises with every ejection: late news of attempts from before it say nothing about now. */
  get generation(): number {
    return this.#generation;
  }

  /** Ejections in a row. */
  get ejections(): number {
    return this.#ejections;
  }

  get ejectedAt(): number {
    return this.#ejectedAt;
  }

  /** When the present ejection is over. */
  get until(): number {
    return this.#until;
  }

  standing(now: number): Standing {
    if (!this.#ejected) return 'in-use';
    return this.#probing || now < this.#until ? 'ejected' : 'probe-due';
  }

  /** The caller sends the one probe; until it has been told of, the channel stays ejected for all others. */
  beginProbe(): void {
    this.#probing = true;
  }

  /** @returns true when this brought the channel back. */
  succeed(leave: Leave, now: number): boolean {
    if (leave.generation !== this.#generation) return false;
    this.#faults = 0;
    return this.#comeBack(now);
  }

  /**
   * An answer has begun, and nobody knows yet how it ends. An ejected channel comes back on trial: its next fault
   * ejects it again. An answer may take minutes, and the others should not wait for its end.
   * @returns true when this brought the channel back.
   */
  begin(leave: Leave, now: number): boolean {
    if (leave.generation !== this.#generation || !this.#comeBack(now)) return false;
    this.#faults = breakerRules.faultsToEject - 1;
    return true;
  }

  /** @returns true when this ejected the channel. */
  fail(leave: Leave, now: number): boolean {
    if (leave.generation !== this.#generation) return false;
    if (this.#ejected) {
      // Used for want of another one: that it fails is known.
      if (!leave.probe) return false;
    } else {
      this.#faults += 1;
      if (this.#faults < breakerRules.faultsToEject) return false;
    }
    this.#eject(now);
    return true;
  }

  /** The attempt says nothing about the channel: if it was the probe, the next request is. */
  release(leave: Leave): void {
    if (leave.probe && leave.generation === this.#generation) this.#probing = false;
  }

  #comeBack(now: number): boolean {
    if (!this.#ejected) return false;
    this.#ejected = false;
    this.#probing = false;
    this.#backSince = now;
    return true;
  }

  #eject(now: number): void {
    const { ejectionMs, longestEjectionMs, forgetAfterMs } = breakerRules;
    if (!this.#ejected && now - this.#backSince >= forgetAfterMs) this.#ejections = 0;
    this.#ejections += 1;
    this.#ejectedAt = now;
    this.#until = now + Math.min(ejectionMs * this.#ejections, longestEjectionMs);
    this.#ejected = true;
    this.#probing = false;
    this.#faults = 0;
    this.#generation += 1;
  }
}
