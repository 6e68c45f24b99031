/** The rules of ejection, after Envoy's outlier detection. Milliseconds. */
export const breakerRules = Object.freeze({
  faultsToEject: 5,
  /** Multiplied by the number of consecutive ejections. */
  ejectionMs: 30_000,
  longestEjectionMs: 300_000,
  /** After this long in use, earlier ejections are forgotten. */
  forgetAfterMs: 300_000,
});

/** `probe-due`: the ejection has expired, but the channel has not been tried since. */
export type Standing = 'in-use' | 'ejected' | 'probe-due';

/** How an attempt was admitted. Its result counts only while the breaker is still in the same state. */
export interface Permit {
  readonly generation: number;
  readonly probe: boolean;
}

/**
 * Counts the faults of one channel and decides when to avoid it. It knows neither other channels nor requests; the
 * caller decides what to do when there is no alternative.
 */
export class Breaker {
  /** Increases with every ejection: results of attempts from before it no longer matter. */
  generation = 0;
  /** Consecutive ejections. */
  ejections = 0;
  ejectedAt = 0;
  /** When the current ejection ends. */
  until = 0;
  #faults = 0;
  #isEjected = false;
  #probing = false;
  #backSince = Number.NEGATIVE_INFINITY;

  standing(now: number): Standing {
    if (!this.#isEjected) return 'in-use';
    return this.#probing || now < this.until ? 'ejected' : 'probe-due';
  }

  /** The caller sends the only probe; until its result is known, the channel stays ejected for all others. */
  beginProbe(): void {
    this.#probing = true;
  }

  /** @returns true if this ended an ejection */
  succeed(permit: Permit, now: number): boolean {
    if (permit.generation !== this.generation) return false;
    this.#faults = 0;
    if (!this.#isEjected) return false;
    this.#comeBack(now);
    return true;
  }

  /**
   * A response has begun and its end is not known yet. An ejected channel returns on trial: its next fault ejects it
   * again. A response may take minutes, and other requests should not wait for its end.
   * @returns true if this ended an ejection
   */
  begin(permit: Permit, now: number): boolean {
    if (permit.generation !== this.generation || !this.#isEjected) return false;
    this.#comeBack(now);
    this.#faults = breakerRules.faultsToEject - 1;
    return true;
  }

  /** @returns true if this ejected the channel */
  fail(permit: Permit, now: number): boolean {
    if (permit.generation !== this.generation) return false;
    if (this.#isEjected) {
      // The channel was used for lack of an alternative; its failure is known.
      if (!permit.probe) return false;
    } else {
      this.#faults += 1;
      if (this.#faults < breakerRules.faultsToEject) return false;
    }
    this.#eject(now);
    return true;
  }

  /** The attempt says nothing about the channel. If it was the probe, the next request becomes the probe. */
  release(permit: Permit): void {
    if (permit.probe && permit.generation === this.generation) this.#probing = false;
  }

  #comeBack(now: number): void {
    this.#isEjected = false;
    this.#probing = false;
    this.#backSince = now;
  }

  #eject(now: number): void {
    const { ejectionMs, longestEjectionMs, forgetAfterMs } = breakerRules;
    if (!this.#isEjected && now - this.#backSince >= forgetAfterMs) this.ejections = 0;
    this.ejections += 1;
    this.ejectedAt = now;
    this.until = now + Math.min(ejectionMs * this.ejections, longestEjectionMs);
    this.#isEjected = true;
    this.#probing = false;
    this.#faults = 0;
    this.generation += 1;
  }
}
