import type { DeclaredPrice } from '#config/index.ts';
import { scaled, unscaled } from '#config/decimal.ts';
import { litellmCosts } from './litellm-costs.ts';
import { ExactNumber, isExactMapping, type ExactMapping } from './exact-json.ts';

/** The parts of a price that the list repeats for a service tier, with the tier's name as suffix. */
const tieredParts = [
  'input_cost_per_token',
  'output_cost_per_token',
  'cache_read_input_token_cost',
] as const;
/** Those that it repeats for some models only, though the tier costs as much more there. */
const sometimesTiered: ReadonlySet<string> = new Set([
  ...litellmCosts.inputAudio,
  ...litellmCosts.cacheReadAudio,
  ...litellmCosts.outputAudio,
]);

/** Decimals in which two costs are compared; costs per token have fewer. */
const places = 20;
const multiplierPlaces = 6n;

/**
 * The prices besides tokens in LiteLLM's list, as far as one multiplier or one fee can express them: a service tier
 * that multiplies all parts equally, fast mode and a region, and searches that cost the same for every context size.
 */
export function listedSurcharges(entry: ExactMapping): Pick<DeclaredPrice, 'multipliers' | 'fees'> {
  const multipliers: Record<string, string> = {};
  for (const tier of ['priority', 'flex']) {
    const by = multiplierOf(entry, tier);
    if (by !== null) multipliers[`service_tier.${tier}`] = by;
  }
  const specific = entry['provider_specific_entry'];
  if (isExactMapping(specific)) {
    const fast = plainDecimal(specific['fast']);
    if (fast !== null) multipliers['speed.fast'] = fast;
    const us = plainDecimal(specific['us']);
    if (us !== null) multipliers['inference_geo.us'] = us;
  }
  const search = searchFee(entry['search_context_cost_per_query']);
  return {
    ...(Object.keys(multipliers).length > 0 && { multipliers }),
    ...(search !== null && { fees: { web_search: search } }),
  };
}

/** Null unless all parts that the tier has are the ordinary parts times the same number. */
function multiplierOf(entry: ExactMapping, tier: string): string | null {
  let foundPrice: bigint | null = null;
  for (const part of [...tieredParts, ...sometimesTiered]) {
    const [of, base] = [amount(entry[`${part}_${tier}`]), amount(entry[part])];
    if (of === null && sometimesTiered.has(part)) continue;
    if (of === null || base === null) {
      // A part that the tier lacks would cost the ordinary price in it.
      if (of !== null || (base !== null && base !== 0n)) return null;
      continue;
    }
    if (base === 0n) return null;
    const scaledUp = of * 10n ** multiplierPlaces;
    const by = scaledUp / base;
    if (by * base !== scaledUp || (foundPrice !== null && foundPrice !== by)) return null;
    foundPrice = by;
  }
  return foundPrice === null ? null : unscaled(foundPrice, Number(multiplierPlaces));
}

function amount(value: unknown): bigint | null {
  const decimal = value instanceof ExactNumber ? value.decimal() : null;
  return decimal === null || decimal.startsWith('-') ? null : scaled(decimal, places);
}

/** A multiplier as written, with at most six decimals. */
function plainDecimal(value: unknown): string | null {
  const decimal = value instanceof ExactNumber ? value.decimal() : null;
  const exact = decimal === null ? null : scaled(decimal, Number(multiplierPlaces));
  return exact === null || exact <= 0n ? null : decimal;
}

function searchFee(costs: unknown): string | null {
  if (!isExactMapping(costs)) return null;
  const all = Object.values(costs).map((cost) =>
    cost instanceof ExactNumber ? cost.decimal() : null,
  );
  const [first] = all;
  return first === undefined || first === null || all.some((each) => each !== first) ? null : first;
}
