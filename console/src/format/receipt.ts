import type { Result } from '../api/client.ts';
import { exact, plus, rounded, times, toNumber, toText, type Exact } from './exact.ts';
import { partOf } from './parts.ts';

type Detail = Result<'readUsage'>;
type Item = NonNullable<Detail['receipt']>[number];

/** What a quantity counts, which decides how its rate is published. */
export type Unit = 'token' | 'picture' | 'second' | 'other';

export interface ReceiptLine {
  readonly part: string;
  readonly unit: Unit;
  readonly quantity: number;
  /** Per million for tokens, else per unit. Decimal text in USD, at least two places. */
  readonly rate: string;
  /** Decimal text in USD, not rounded. */
  readonly amount: string;
  /** Of the sum, from 0 to 1. */
  readonly share: number;
}

export interface Receipt {
  readonly lines: readonly ReceiptLine[];
  readonly sum: string;
  readonly multiplier: string;
  /** Before it is rounded. */
  readonly product: string;
  /** What the lines come to: the sum × the multiplier, rounded once. */
  readonly total: string;
  /** Whether less was charged: at most what the request held. */
  readonly isCapped: boolean;
}

const million = exact('1000000');
const nothing = exact('0');
/** Places of the charge. */
const places = 9;

/** The sum of a receipt, done again from its lines. Null if nothing was charged. */
export function receiptOf({ receipt, multiplier, cost }: Detail): Receipt | null {
  if (receipt === null || cost === null) return null;
  const amounts = receipt.map(amountOf);
  const sum = amounts.reduce(plus, nothing);
  const whole = toNumber(sum);
  const product = times(sum, exact(multiplier ?? '1'));
  const total = rounded(product, places);
  return {
    lines: receipt.map((item, at) => lineOf(item, amounts[at] ?? nothing, whole)),
    sum: toText(sum, 2),
    multiplier: multiplier ?? '1',
    product: toText(product, 2),
    total: toText(total, 2),
    isCapped: total.digits !== rounded(exact(cost), places).digits,
  };
}

function lineOf(item: Item, amount: Exact, sum: number): ReceiptLine {
  const unit = unitOf(item.part);
  const price = exact(item.price);
  return {
    part: item.part,
    unit,
    quantity: item.quantity,
    rate: toText(unit === 'token' ? times(price, million) : price, 2),
    amount: toText(amount, 2),
    share: sum === 0 ? 0 : toNumber(amount) / sum,
  };
}

/** Quantities are whole, or seconds to the millisecond. */
function amountOf({ quantity, price }: Item): Exact {
  const thousandths = { digits: BigInt(Math.round(quantity * 1_000)), places: 3 };
  return times(thousandths, exact(price));
}

function unitOf(part: string): Unit {
  const { name } = partOf(part);
  if (name.startsWith('video_second')) return 'second';
  if (/^(image_tiers|reference_image|layer\w*)(\.|$)/.test(name)) return 'picture';
  if (/^(input|output|cache|video_tokens)/.test(name)) return 'token';
  return 'other';
}
