import { parseDecimal, scaled } from '#config/decimal.ts';

interface Item {
  readonly quantity: number;
  readonly rate: string;
}

const quantityPlaces = 9;
const multiplierPlaces = 6;
/** Rates are 10⁻¹⁵ USD, with further decimals if multipliers are included; amounts are 10⁻⁹ USD. */
const ratePlaces = 18;
const divisor = 10n ** BigInt(quantityPlaces + multiplierPlaces + ratePlaces + 15 - 9);

/**
 * The cost of a receipt's items, in nano-USD: the exact sum × multiplier, rounded once, half to even. Independent of
 * the code that makes receipts, so that a mistake there shows here.
 * @throws RangeError for a value that is not a number.
 */
export function receiptCost(items: readonly Item[], multiplier: string): bigint {
  let sum = 0n;
  for (const { quantity, rate } of items) {
    sum += exact(String(quantity), quantityPlaces) * exact(rate, ratePlaces);
  }
  const product = sum * exact(multiplier, multiplierPlaces);
  const quotient = product / divisor;
  const twice = (product % divisor) * 2n;
  const up = twice > divisor || (twice === divisor && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}

function exact(text: string, places: number): bigint {
  const decimal = parseDecimal(text);
  const value = decimal === null ? null : scaled(decimal, places);
  if (value === null || value < 0n) throw new RangeError(`not an amount: '${text}'`);
  return value;
}
