import { parseDecimal, scaled, unscaled } from '#config/decimal.ts';
import type { UsageTable } from '#database/index.ts';
import type { Difference } from './difference.ts';

/** The parts of a price that a token receipt can name, and where each is read from: the first one that is set. */
const partsOf: Readonly<Record<string, readonly string[]>> = {
  input: ['input'],
  input_image: ['inputImage', 'input'],
  cache_read: ['cacheRead', 'input'],
  cache_write: ['cacheWrite', 'input'],
  cache_write_1h: ['cacheWrite1h', 'cacheWrite', 'input'],
  output: ['output'],
};

/** USD per million → 10⁻¹⁵ USD per token. */
const ratePlaces = 9;

export type PricedRow = Pick<UsageTable, 'id' | 'receipt' | 'price_version'>;

/**
 * Checks a receipt's rates against the price that it names. Independent of the code that makes receipts, like
 * `receiptCost`. Another check reports an unreadable receipt.
 * @param price JSON as stored; undefined: it is not stored
 */
export function checkRates(
  { id: subject, receipt, price_version: version }: PricedRow,
  price: string | undefined,
): Difference[] {
  const items = read(receipt ?? '');
  if (!Array.isArray(items)) return [];
  const parts = price === undefined ? null : read(price);
  if (typeof parts !== 'object' || parts === null) {
    const expected = `the price ${version}`;
    return [{ check: 'price', subject, expected, found: 'none that can be read' }];
  }
  return (items as { readonly part: string; readonly rate: string }[]).flatMap(
    ({ part, rate }): Difference[] => {
      const expected = rateOf(parts as Readonly<Record<string, unknown>>, part);
      if (expected === rate) return [];
      const of = `${part} at `;
      return [{ check: 'price', subject, expected: of + expected, found: of + rate }];
    },
  );
}

/** Decimals of a multiplier and of a price per use. */
const factorPlaces = 6;
const perUsePlaces = 15;

/** `output@service_tier.priority`, `fees.web_search`, `unpriced.web_search`, or a part of the price alone. */
function rateOf(price: Readonly<Record<string, unknown>>, named: string): string {
  const [part = '', ...surcharges] = named.split('@');
  if (part.startsWith('unpriced.')) return '0';
  if (part.startsWith('fees.')) return String(entryOf(price['fees'], part.slice(5), perUsePlaces));
  let rate = partRate(price, part);
  let places = 0;
  for (const surcharge of surcharges) {
    const factor = entryOf(price['multipliers'], surcharge, factorPlaces);
    if (rate === null || factor === null) return 'null';
    rate *= factor;
    places += factorPlaces;
  }
  return rate === null ? 'null' : unscaled(rate, places);
}

function entryOf(entries: unknown, name: string, places: number): bigint | null {
  if (typeof entries !== 'object' || entries === null || !Object.hasOwn(entries, name)) return null;
  const value = (entries as Readonly<Record<string, unknown>>)[name];
  const decimal = typeof value === 'string' ? parseDecimal(value) : null;
  return decimal === null ? null : scaled(decimal, places);
}

function partRate(price: Readonly<Record<string, unknown>>, part: string): bigint | null {
  const names = Object.hasOwn(partsOf, part) ? partsOf[part] : undefined;
  const value = names?.map((name) => price[name]).find((each) => each !== undefined);
  const decimal = typeof value === 'string' ? parseDecimal(value) : null;
  return decimal === null ? null : scaled(decimal, ratePlaces);
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
