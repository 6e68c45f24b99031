import type { HoldDecision, Meter, MeterState } from '#limits/index.ts';

interface ModelHold {
  readonly amount: bigint;
  readonly expiresAt: number;
  /** Meters that had less left than was asked for. */
  readonly shortOn: readonly string[];
}

/** Money as plainly as it can be said: every hold that is neither ended nor void is subtracted, on every meter. */
export class MoneyModel {
  #meters: readonly Meter[];
  readonly #holds = new Map<string, ModelHold>();
  readonly #ended = new Set<string>();
  #spent: bigint;

  constructor(meters: readonly Meter[], spent: bigint) {
    this.#meters = meters;
    this.#spent = spent;
  }

  /** From now on. */
  limitTo(meters: readonly Meter[]): void {
    this.#meters = meters;
  }

  hold(id: string, amount: bigint, now: number, expiresAt: number): HoldDecision {
    const [poor, shortOn] = this.#judge(amount, now);
    const [first] = poor;
    if (first !== undefined) return { isHeld: false, denied: first };
    const taken = this.#spent + this.#heldAt(now);
    const least = [amount, ...this.#meters.map(({ limit }) => limit - taken)].reduce((a, b) =>
      a < b ? a : b,
    );
    this.#holds.set(id, { amount: least, expiresAt, shortOn });
    return { isHeld: true, amount: least };
  }

  /** The meters that refuse, and those that have less left than is asked for. */
  #judge(amount: bigint, now: number): [poor: readonly string[], shortOn: readonly string[]] {
    const taken = this.#spent + this.#heldAt(now);
    const holds = [...this.#holds.values()].filter((hold) => now < hold.expiresAt);
    const isShort = new Set(holds.flatMap(({ shortOn }) => shortOn));
    const shortOn = this.#meters
      .filter(({ limit }) => limit - taken < amount)
      .map(({ name }) => name);
    const poor = this.#meters
      .filter(
        ({ name, limit, floor }) =>
          limit - taken < floor || (shortOn.includes(name) && isShort.has(name)),
      )
      .map(({ name }) => name);
    return [poor, shortOn];
  }

  commitHold(id: string, spent: bigint): void {
    if (!this.#holds.delete(id)) return;
    this.#ended.add(id);
    this.#spent += spent;
  }

  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  read(now: number): MeterState {
    return { spentAmount: this.#spent, heldAmount: this.#heldAt(now) };
  }

  #heldAt(now: number): bigint {
    let held = 0n;
    for (const { amount, expiresAt } of this.#holds.values()) if (now < expiresAt) held += amount;
    return held;
  }
}
