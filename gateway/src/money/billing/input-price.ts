import { receiptOf } from './cost.ts';
import { tokenRatesFor, type PriceRates } from './rates.ts';
import { factorOf } from './surcharges.ts';

/**
 * What a token would have cost as input where a receipt's line charges it as one of a cache, in 10⁻¹⁵ USD as a decimal, with the
 * line's tier and multipliers. Null for a price without tokens.
 * @param part of the receipt's line: `cache_read`, `tiers.200000.cache_write@speed.fast`
 */
export function inputRateBeside(price: PriceRates, part: string): string | null {
  const [whole = '', ...surcharges] = part.split('@');
  const above = Number(/^tiers\.(\d+)\./.exec(whole)?.[1] ?? -1);
  const rate = tokenRatesFor(price, above + 1)?.input;
  if (rate === undefined) return null;
  const factor = factorOf(price, surcharges);
  const line = { rate, quantity: 1, ...(factor !== undefined && { factor }) };
  return receiptOf([line], 1_000_000n).items[0]?.rate ?? null;
}
