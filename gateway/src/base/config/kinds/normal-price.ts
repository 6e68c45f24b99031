import { tokenPartNames, type TokenPart } from '#canonical/index.ts';
import { parseDecimal, scaled, shortestDecimal } from '../decimal.ts';
import type { DeclaredPrice, PromptTier } from './price.ts';

/** A price per million units may have nine decimals, a price per unit fifteen: a rate is an integer of 10⁻¹⁵ USD. */
const perMillion = 9;
const perUnit = 15;
const multiplier = 6;

/**
 * The normal form of a stored price: known parts only, in a fixed order, numbers in their shortest form. Equal prices
 * are equal JSON. Null if any part is invalid.
 */
export function normalPrice(value: unknown): DeclaredPrice | null {
  if (!isMapping(value)) return null;
  const parts = {
    ...tokenPrices(value),
    tiers: optional(value['tiers'], normalPromptTiers),
    imageTiers: optional(value['imageTiers'], normalTiers),
    layerFactor: decimal(value['layerFactor'], perMillion),
    referenceImage: decimal(value['referenceImage'], perUnit),
    videoSecond: optional(value['videoSecond'], (part) =>
      normalEntries(part, (price) => decimal(price, perUnit) ?? null),
    ),
    videoTokens: optional(value['videoTokens'], (part) => normalEntries(part, normalVideoTokens)),
    multipliers: optional(value['multipliers'], (part) =>
      normalEntries(part, (factor) => decimal(factor, multiplier) ?? null),
    ),
    fees: optional(value['fees'], (part) =>
      normalEntries(part, (price) => decimal(price, perUnit) ?? null),
    ),
  };
  const givenPrices = Object.entries(parts).filter(([, part]) => part !== undefined);
  if (givenPrices.some(([, part]) => part === null)) return null;
  return Object.freeze(Object.fromEntries(givenPrices) as DeclaredPrice);
}

/** Undefined: the part is absent. Null: it is invalid. */
type Part<Value> = Value | null | undefined;

function optional<Value>(value: unknown, read: (value: unknown) => Value | null): Part<Value> {
  return value === undefined ? undefined : read(value);
}

function tokenPrices(value: Record<string, unknown>): { [Name in TokenPart]?: Part<string> } {
  return Object.fromEntries(tokenPartNames.map((part) => [part, decimal(value[part], perMillion)]));
}

function decimal(value: unknown, places: number): Part<string> {
  return optional(value, (text) => {
    const digits = typeof text === 'string' ? parseDecimal(text) : null;
    const exact = digits === null ? null : scaled(digits, places);
    if (digits === null || exact === null || exact < 0n) return null;
    return shortestDecimal(digits);
  });
}

function normalTiers(value: unknown): DeclaredPrice['imageTiers'] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  let largest = 0;
  const tiers = [];
  for (const tier of value as unknown[]) {
    if (!isMapping(tier)) return null;
    const { name, maxPixels } = tier;
    const price = decimal(tier['price'], perUnit);
    if (typeof name !== 'string' || price === null || price === undefined) return null;
    // The first matching tier wins, so a smaller one after a larger one is unreachable.
    if (!Number.isSafeInteger(maxPixels) || Number(maxPixels) <= largest) return null;
    largest = Number(maxPixels);
    tiers.push({ name, maxPixels: largest, price });
  }
  return tiers;
}

function normalPromptTiers(value: unknown): DeclaredPrice['tiers'] | null {
  if (!Array.isArray(value) || value.length === 0) return null;
  let last = 0;
  const tiers: PromptTier[] = [];
  for (const tier of value as unknown[]) {
    if (!isMapping(tier)) return null;
    const { above } = tier;
    if (!Number.isSafeInteger(above) || Number(above) <= last) return null;
    last = Number(above);
    const givenPrices = Object.entries(tokenPrices(tier)).filter(
      ([, price]) => price !== undefined,
    );
    if (givenPrices.length === 0 || givenPrices.some(([, price]) => price === null)) return null;
    tiers.push({ above: last, ...(Object.fromEntries(givenPrices) as Omit<PromptTier, 'above'>) });
  }
  return tiers;
}

function normalVideoTokens(value: unknown): { text: string; withVideo: string } | null {
  if (!isMapping(value)) return null;
  const text = decimal(value['text'], perMillion);
  const withVideo = decimal(value['withVideo'], perMillion);
  if (text === null || text === undefined || withVideo === null || withVideo === undefined) {
    return null;
  }
  return { text, withVideo };
}

/** In a fixed order by name; null if there are none or one is invalid. */
function normalEntries<Value>(
  value: unknown,
  read: (entry: unknown) => Value | null,
): Record<string, Value> | null {
  if (!isMapping(value)) return null;
  const entries: [string, Value][] = [];
  for (const name of Object.keys(value).toSorted()) {
    const entry = read(value[name]);
    if (entry === null) return null;
    entries.push([name, entry]);
  }
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
