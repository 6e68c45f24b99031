import type { HoldRequest } from '../money.ts';

const rememberedMs = 100;
const mostNames = 50_000;

interface Refusal {
  readonly amount: bigint;
  readonly limit: bigint;
  readonly until: number;
}

/** Certain refusals, remembered for a moment: an exhausted balance under load costs ten commands a second. */
export interface Refusals {
  add(request: HoldRequest, meter: string): void;
  /** The first meter on which as much was refused, or null. */
  of(request: HoldRequest): string | null;
  /** Call it when money came back to the meter. */
  forget(meter: string): void;
  /** Call it when limits may have been raised. */
  clear(): void;
}

/** @param monotonic milliseconds */
export function createRefusals(monotonic: () => number): Refusals {
  const names = new Map<string, Refusal>();
  return {
    add({ amount, meters }, meter) {
      const limit = meters.find(({ name }) => name === meter)?.limit ?? 0n;
      names.delete(meter);
      if (names.size >= mostNames) names.delete(names.keys().next().value!);
      names.set(meter, { amount, limit, until: monotonic() + rememberedMs });
    },
    of({ amount, meters }) {
      if (names.size === 0) return null;
      for (const { name, limit } of meters) {
        const refusal = names.get(name);
        if (refusal === undefined) continue;
        if (monotonic() >= refusal.until) names.delete(name);
        else if (amount >= refusal.amount && limit <= refusal.limit) return name;
      }
      return null;
    },
    forget: (meter) => void names.delete(meter),
    clear: () => names.clear(),
  };
}
