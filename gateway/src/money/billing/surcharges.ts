import type { Surcharges } from '#canonical/index.ts';
import type { Factor, Line } from './cost.ts';
import type { PriceRates, Rate } from './rates.ts';

const factorPlaces = 18n;
const multiplierPlaces = 6n;

/**
 * The factor for token rates under these surcharges; undefined if none of them has a multiplier. Three fields can have
 * one, which is as many as a factor's 18 decimals hold.
 */
export function factorOf(
  { multipliers }: PriceRates,
  names: readonly string[],
): Factor | undefined {
  let suffix = '';
  let value = 1n;
  let places = 0n;
  for (const name of names) {
    const by = multipliers.get(name);
    if (by === undefined || places === factorPlaces) continue;
    suffix += `@${name}`;
    value *= by;
    places += multiplierPlaces;
  }
  return suffix === '' ? undefined : { suffix, value: value * 10n ** (factorPlaces - places) };
}

/** The same for a hold: a discount does not lower the bound, because the upstream may not grant it. */
export function dearestFactor(rates: PriceRates, names: readonly string[]): Factor | undefined {
  const dear = names.filter((name) => (rates.multipliers.get(name) ?? 0n) > 1_000_000n);
  return factorOf(rates, dear);
}

/**
 * The lines of a response: its tokens with the reported multipliers, and its uses with fees.
 * @param surcharges absent: none were reported
 */
export function surchargedLines(
  rates: PriceRates,
  lines: readonly Line[],
  surcharges: Surcharges | undefined,
): readonly Line[] {
  if (surcharges === undefined) return lines;
  const factor = factorOf(rates, surcharges.reported);
  const tokens = factor === undefined ? lines : lines.map((line) => ({ ...line, factor }));
  return [...tokens, ...feeLines(rates, surcharges)];
}

/** Uses with fees, and unpriced surcharges and uses at no cost, so that they are visible. */
function feeLines(
  rates: PriceRates,
  { reported, webSearches, imageTokens = 0 }: Surcharges,
): Line[] {
  const lines: Line[] = [];
  if (webSearches > 0) {
    const perSearch = rates.fees.get('web_search');
    const perPrompt = rates.fees.get('grounded_prompt');
    if (perSearch !== undefined) lines.push({ rate: perSearch, quantity: webSearches });
    if (perPrompt !== undefined) lines.push({ rate: perPrompt, quantity: 1 });
    if (lines.length === 0) lines.push({ rate: unpriced('web_search'), quantity: webSearches });
  }
  if (imageTokens > 0) {
    lines.push({ rate: unpriced('image_generation'), quantity: imageTokens });
  }
  for (const name of reported) {
    if (!rates.multipliers.has(name)) lines.push({ rate: unpriced(name), quantity: 1 });
  }
  return lines;
}

/** The most that uses can cost, per search and once. */
export function feeBounds(rates: PriceRates, webSearches: bigint): Line<bigint>[] {
  if (webSearches === 0n) return [];
  return Array.from(rates.fees, ([name, rate]) => ({
    rate,
    quantity: name === 'grounded_prompt' ? 1n : webSearches,
  }));
}

/** A part at no cost, so that its quantity is visible. */
export function unpriced(name: string): Rate {
  return markOf(`unpriced.${name}`);
}

/** A line at no cost, which only informs. */
export function markOf(part: string): Rate {
  return { part, perUnit: 0n, text: '0', inThousandths: false };
}
