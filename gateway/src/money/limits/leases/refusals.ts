import type { Outcome } from '#leases/index.ts';
import type { HoldRequest, Meter } from '../money.ts';

const rememberedMs = 100;
const mostNames = 50_000;

interface Refusal {
  /** The smallest amount that is refused. */
  readonly least: bigint;
  readonly floor: bigint;
  readonly limit: bigint;
  readonly until: number;
}

/** Certain refusals, remembered for a moment: an exhausted balance under load costs ten commands a second. */
export interface Refusals {
  add(request: HoldRequest, refusal: Extract<Outcome, { kind: 'refused' }>): void;
  /** The first meter on which as much was refused, or null. */
  of(request: HoldRequest): string | null;
  /** Whether as much was refused on one of the meters when the authority was last asked, however long ago. */
  isLastKnown(request: HoldRequest): boolean;
  /** Call it when money came back to the meter. */
  forget(meter: string): void;
  /** Call it when limits may have been raised. */
  clear(): void;
}

const concerns = (refusal: Refusal, { limit, floor }: Meter, amount: bigint): boolean =>
  amount >= refusal.least && floor >= refusal.floor && limit <= refusal.limit;

/** @param monotonic milliseconds */
export function createRefusals(monotonic: () => number): Refusals {
  const names = new Map<string, Refusal>();
  return {
    add({ meters }, { meter, least }) {
      const { limit, floor } = meters.find(({ name }) => name === meter)!;
      names.delete(meter);
      if (names.size >= mostNames) names.delete(names.keys().next().value!);
      names.set(meter, { least, floor, limit, until: monotonic() + rememberedMs });
    },
    of({ amount, meters }) {
      if (names.size === 0) return null;
      for (const { name, limit, floor } of meters) {
        const refusal = names.get(name);
        if (refusal === undefined) continue;
        if (monotonic() < refusal.until && concerns(refusal, { name, limit, floor }, amount))
          return name;
      }
      return null;
    },
    isLastKnown({ amount, meters }) {
      return meters.some((meter) => {
        const refusal = names.get(meter.name);
        return refusal !== undefined && concerns(refusal, meter, amount);
      });
    },
    forget: (meter) => void names.delete(meter),
    clear: () => names.clear(),
  };
}
