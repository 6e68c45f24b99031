import { parseDecimal, scaled, unscaled } from '#config/decimal.ts';
import type { UsageTable } from '#database/index.ts';
import type { Difference } from './difference.ts';

/** The token parts that a receipt can name, and where each is read from: the first one that is set. */
const partsOf: Readonly<Record<string, readonly string[]>> = {
  input: ['input'],
  input_image: ['inputImage', 'input'],
  cache_read: ['cacheRead', 'input'],
  cache_write: ['cacheWrite', 'input'],
  cache_write_1h: ['cacheWrite1h', 'cacheWrite', 'input'],
  output: ['output'],
  output_image: ['outputImage', 'output'],
  input_audio: ['inputAudio'],
  cache_read_audio: ['cacheReadAudio', 'inputAudio'],
  output_audio: ['outputAudio'],
  cache_read_image: ['cacheReadImage', 'inputImage'],
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
    const expectedPrice = `the price ${version}`;
    return [{ check: 'price', subject, expected: expectedPrice, found: 'none that can be read' }];
  }
  return (items as { readonly part: string; readonly rate: string }[]).flatMap(
    ({ part, rate }): Difference[] => {
      const expectedRate = rateOf(parts as Readonly<Record<string, unknown>>, part);
      if (expectedRate === rate) return [];
      const of = `${part} at `;
      return [{ check: 'price', subject, expected: of + expectedRate, found: of + rate }];
    },
  );
}

/** Decimals of a multiplier and of a price per use. */
const factorPlaces = 6;
const perUsePlaces = 15;
/** Decimals of `layer_factor`. */
const layerPlaces = 9;
const layerOne = 10n ** 9n;

/** `output@service_tier.priority`, `fees.web_search`, `unpriced.web_search`, `iterations`, or a part of the price alone. */
function rateOf(price: Readonly<Record<string, unknown>>, partName: string): string {
  const [part = '', ...surcharges] = partName.split('@');
  if (part.startsWith('unpriced.') || part === 'iterations') return '0';
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
  return exact((entries as Readonly<Record<string, unknown>>)[name], places);
}

/** Null for a part that the price does not have. */
function partRate(price: Readonly<Record<string, unknown>>, part: string): bigint | null {
  const [kind = '', tier = ''] = split(part);
  if (kind === 'tiers') return promptTierRate(price, tier);
  if (kind === 'image_tiers') return tierRate(price, tier);
  if (kind === 'layer_factor') return layerRate(price, tier);
  if (kind === 'video_second') return entryOf(price['videoSecond'], tier, perUsePlaces);
  if (kind === 'video_tokens') return videoTokenRate(price, tier);
  if (part === 'reference_image') return exact(price['referenceImage'], perUsePlaces);
  return tokenRate(price, part);
}

function tokenRate(price: Readonly<Record<string, unknown>>, part: string): bigint | null {
  const names = Object.hasOwn(partsOf, part) ? partsOf[part] : undefined;
  return exact(
    names?.map((name) => price[name]).find((each) => each !== undefined),
    ratePlaces,
  );
}

/** `200000.input`: of the tier, or without one where the tier does not name it. */
function promptTierRate(price: Readonly<Record<string, unknown>>, partName: string): bigint | null {
  const [above = '', part = ''] = split(partName);
  const tiers: readonly unknown[] = Array.isArray(price['tiers']) ? price['tiers'] : [];
  const tier = (tiers as Readonly<Record<string, unknown>>[]).find(
    (each) => String(each['above']) === above,
  );
  return tier === undefined ? null : tokenRate({ ...price, ...tier }, part);
}

/** A tier's name may contain dots itself. */
function split(part: string): string[] {
  const dot = part.indexOf('.');
  return dot === -1 ? [part] : [part.slice(0, dot), part.slice(dot + 1)];
}

function tierRate(price: Readonly<Record<string, unknown>>, tier: string): bigint | null {
  const tiers: readonly unknown[] = Array.isArray(price['imageTiers']) ? price['imageTiers'] : [];
  const found = (tiers as Readonly<Record<string, unknown>>[]).find(({ name }) => name === tier);
  return exact(found?.['price'], perUsePlaces);
}

/** A share of the tier's price; the digits beyond 10⁻¹⁵ USD are rounded half to even. */
function layerRate(price: Readonly<Record<string, unknown>>, tier: string): bigint | null {
  const image = tierRate(price, tier);
  const factor = exact(price['layerFactor'], layerPlaces);
  if (image === null || factor === null) return null;
  const [whole, rest] = [(image * factor) / layerOne, (image * factor) % layerOne];
  const twice = rest * 2n;
  return twice > layerOne || (twice === layerOne && whole % 2n === 1n) ? whole + 1n : whole;
}

/** `720P.text` or `720P.with_video`. */
function videoTokenRate(price: Readonly<Record<string, unknown>>, tier: string): bigint | null {
  const [resolution = '', source = ''] = split(tier);
  const rates = price['videoTokens'];
  if (typeof rates !== 'object' || rates === null || !Object.hasOwn(rates, resolution)) return null;
  const of = (rates as Readonly<Record<string, unknown>>)[resolution];
  return entryOf(of, source === 'with_video' ? 'withVideo' : source, ratePlaces);
}

function exact(value: unknown, places: number): bigint | null {
  const decimal = typeof value === 'string' ? parseDecimal(value) : null;
  return decimal === null ? null : scaled(decimal, places);
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
