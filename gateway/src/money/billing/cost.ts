import { parseDecimal, scaled, unscaled } from '#config/decimal.ts';
import type { ReceiptItem } from '#usage/index.ts';
import { divideHalfEven, type Rate } from './rates.ts';

/** A quantity of one part of a price. */
export interface CostLine<Quantity extends number | bigint = number> {
  readonly rate: Rate;
  /** An integer ≥ 0: units, or thousandths of units if the rate says so. */
  readonly quantity: Quantity;
  /** A multiplier for the rate; absent: none. */
  readonly factor?: Factor;
}

/** The multipliers that apply to a response, combined. */
export interface Factor {
  /** Follows the part's name on a receipt: `@service_tier.priority`. */
  readonly suffix: string;
  /** 10⁻¹⁸. */
  readonly value: bigint;
}

export interface Receipt {
  readonly items: readonly ReceiptItem[];
  /** Nano-USD: the exact sum of the items × multiplier, rounded once. */
  readonly cost: bigint;
}

/** The price multiplier of a group in millionths. */
export type Multiplier = bigint;

const multiplierPlaces = 6;
/** The exact sum is in 10⁻¹⁸ USD × 10⁻⁶ of the multiplier; a nano-USD is 10⁻⁹ USD. */
const perNano = 10n ** 15n;
const thousand = 1000n;
/** The maximum of a 64-bit column; larger amounts are equivalent, because no account has that much. */
export const mostHeld = 2n ** 63n - 1n;
/** Of a rate with its multipliers, in 10⁻¹⁵ USD. */
export const factorPlaces = 18;
const perFactor = 10n ** BigInt(factorPlaces);

/**
 * Converts a group's `price_multiplier` to millionths. @throws RangeError unless it is a decimal ≥ 0 with at most six
 * places.
 */
export function parseMultiplier(text: string): Multiplier {
  const millionths = scaled(parseDecimal(text) ?? '-1', multiplierPlaces);
  if (millionths === null || millionths < 0n) throw new RangeError(`not a multiplier: '${text}'`);
  return millionths;
}

/**
 * The exact cost of the lines: every product is an integer, and only the sum is rounded, half to even. The order of the
 * lines does not matter, and a larger quantity never costs less.
 * @throws RangeError for a quantity that is not an integer ≥ 0.
 */
export function receiptOf(lines: readonly CostLine[], multiplier: Multiplier): Receipt {
  const items: ReceiptItem[] = [];
  for (const { rate, quantity, factor } of lines) {
    if (quantity === 0) continue;
    items.push({
      part: factor === undefined ? rate.part : rate.part + factor.suffix,
      quantity: rate.inThousandths ? quantity / 1000 : quantity,
      rate: factor === undefined ? rate.text : unscaled(rate.perUnit * factor.value, factorPlaces),
    });
  }
  const { amount, perNano } = exactSum(lines, multiplier);
  return { items, cost: divideHalfEven(amount, perNano) };
}

/**
 * The hold for these lines: their cost in nano-USD rounded up, an upper bound for these quantities or fewer. Saturates at
 * 2⁶³−1.
 */
export function holdOf(
  lines: readonly CostLine<number | bigint>[],
  multiplier: Multiplier,
): bigint {
  const { amount, perNano } = exactSum(lines, multiplier);
  const ceiling = (amount + perNano - 1n) / perNano;
  return ceiling > mostHeld ? mostHeld : ceiling;
}

/** The sum of the lines × multiplier, in a unit of which a nano-USD is `perNano`: a finer one if a line has a factor. */
function exactSum(
  lines: readonly CostLine<number | bigint>[],
  multiplier: Multiplier,
): { readonly amount: bigint; readonly perNano: bigint } {
  let units = 0n;
  let inThousandths = 0n;
  let factoredSum = 0n;
  for (const { rate, quantity, factor } of lines) {
    if (typeof quantity === 'number' && (!Number.isSafeInteger(quantity) || quantity < 0)) {
      throw new RangeError(`not a quantity: ${quantity}`);
    }
    const amount = BigInt(quantity) * rate.perUnit;
    if (factor !== undefined) {
      factoredSum += amount * factor.value * (rate.inThousandths ? 1n : thousand);
    } else if (rate.inThousandths) inThousandths += amount;
    else units += amount;
  }
  const sum = units * thousand + inThousandths;
  if (factoredSum === 0n) return { amount: sum * multiplier, perNano };
  return { amount: (sum * perFactor + factoredSum) * multiplier, perNano: perNano * perFactor };
}

/** The charge in nano-USD: the cost, but for counts that were not reported no more than the hold. */
export function chargeOf(
  cost: bigint,
  heldAmount: bigint,
  source: 'reported' | 'estimated' | 'quarantined' | 'none',
): bigint {
  const isCertain = source === 'reported' || source === 'none';
  return isCertain || cost < heldAmount ? cost : heldAmount;
}
