import { parseDecimal, scaled } from '../config/decimal.ts';
import { divideHalfEven, type Rate } from './rates.ts';

/** So much of one part of a price. */
export interface Line<Quantity extends number | bigint = number> {
  readonly rate: Rate;
  /** An integer ≥ 0: units, or thousandths of them where the rate says so. */
  readonly quantity: Quantity;
}

/** One line as it is kept with the usage row. */
export interface ReceiptLine {
  readonly part: string;
  /** Units; seconds may have thousandths. */
  readonly quantity: number;
  /** 10⁻¹⁵ USD per unit before the multiplier, decimal digits. */
  readonly rate: string;
}

export interface Receipt {
  readonly items: readonly ReceiptLine[];
  /** Nano-USD: the exact sum of the items × multiplier, rounded once. */
  readonly cost: bigint;
}

/** The price multiplier of a group in millionths. */
export type Multiplier = bigint;

const multiplierPlaces = 6;
/** The exact sum is in 10⁻¹⁸ USD × 10⁻⁶ of the multiplier; a nano-USD is 10⁻⁹ USD. */
const perNano = 10n ** 15n;
const thousand = 1000n;

/** A group's `price_multiplier` → millionths. @throws RangeError unless it is a decimal ≥ 0 with at most six places. */
export function parseMultiplier(text: string): Multiplier {
  const millionths = scaled(parseDecimal(text) ?? '-1', multiplierPlaces);
  if (millionths === null || millionths < 0n) throw new RangeError(`not a multiplier: '${text}'`);
  return millionths;
}

/**
 * What the lines cost, exactly: every product is an integer, and only the sum is rounded, half to even. The order
 * of the lines does not matter, and no quantity makes it less.
 * @throws RangeError for a quantity that is not an integer ≥ 0.
 */
export function receiptOf(lines: readonly Line[], multiplier: Multiplier): Receipt {
  const charged = lines.filter(({ quantity }) => quantity !== 0);
  return {
    items: charged.map(toReceiptLine),
    cost: divideHalfEven(exactSum(charged) * multiplier, perNano),
  };
}

/** The same rounded up: no less than what these quantities or fewer can cost. */
export function ceilingOf(lines: readonly Line<number | bigint>[], multiplier: Multiplier): bigint {
  return (exactSum(lines) * multiplier + perNano - 1n) / perNano;
}

/** A kept receipt's cost, worked out again. */
export function costOfReceipt(items: readonly ReceiptLine[], multiplier: Multiplier): bigint {
  let sum = 0n;
  for (const { quantity, rate } of items) sum += thousandths(quantity) * BigInt(rate);
  return divideHalfEven(sum * multiplier, perNano);
}

/** 10⁻¹⁸ USD. */
function exactSum(lines: readonly Line<number | bigint>[]): bigint {
  let units = 0n;
  let inThousandths = 0n;
  for (const { rate, quantity } of lines) {
    const amount = (typeof quantity === 'bigint' ? quantity : count(quantity)) * rate.perUnit;
    if (rate.inThousandths) inThousandths += amount;
    else units += amount;
  }
  return units * thousand + inThousandths;
}

function toReceiptLine({ rate, quantity }: Line): ReceiptLine {
  return {
    part: rate.part,
    quantity: rate.inThousandths ? quantity / 1000 : quantity,
    rate: rate.text,
  };
}

function count(quantity: number): bigint {
  if (!Number.isSafeInteger(quantity) || quantity < 0) {
    throw new RangeError(`not a quantity: ${quantity}`);
  }
  return BigInt(quantity);
}

/** Seconds with at most three decimals come back as the milliseconds they were. */
function thousandths(quantity: number): bigint {
  return Number.isSafeInteger(quantity)
    ? count(quantity) * thousand
    : count(Math.round(quantity * 1000));
}
