import type { HoldDecision, Meter, MeterState } from '../../src/counting/index.ts';

interface ModelHold {
  readonly amount: bigint;
  readonly expiresAt: number;
}

/** Money as plainly as it can be said: every hold that is neither ended nor void is subtracted, on every meter. */
export class MoneyModel {
  readonly #meters: readonly Meter[];
  readonly #holds = new Map<string, ModelHold>();
  readonly #ended = new Set<string>();
  #spent: bigint;

  constructor(meters: readonly Meter[], spent: bigint) {
    this.#meters = meters;
    this.#spent = spent;
  }

  hold(id: string, amount: bigint, now: number, expiresAt: number): HoldDecision {
    const taken = this.#spent + this.#heldAt(now);
    const poor = this.#meters.find(({ limit, floor }) => limit - taken < floor);
    if (poor !== undefined) return { held: false, denied: poor.name };
    const least = [amount, ...this.#meters.map(({ limit }) => limit - taken)].reduce((a, b) =>
      a < b ? a : b,
    );
    this.#holds.set(id, { amount: least, expiresAt });
    return { held: true, amount: least };
  }

  settle(id: string, spent: bigint): void {
    if (this.#ended.has(id)) return;
    this.#ended.add(id);
    this.#holds.delete(id);
    this.#spent += spent;
  }

  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  read(now: number): MeterState {
    return { spent: this.#spent, held: this.#heldAt(now) };
  }

  #heldAt(now: number): bigint {
    let held = 0n;
    for (const { amount, expiresAt } of this.#holds.values()) if (now < expiresAt) held += amount;
    return held;
  }
}
