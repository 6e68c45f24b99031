import { readFileSync } from 'node:fs';
import { findProvider, type ModelPrice } from '@pydantic/genai-prices';
import { bundledModelsOf } from '#catalogue/bundled.ts';
import type { TokenPart } from '#canonical/index.ts';
import type { DeclaredPrice, PromptTier, ProviderName, TokenPrices } from '#config/index.ts';

/* Prices of vendors as a well-kept public package has them, in the words of the configuration. */

/** The file of the bundled catalogue. */
export const list = new URL(
  '../../src/access/catalogue/bundled/vendor-prices.json',
  import.meta.url,
);

export interface VendorPrices {
  /** Where they come from. */
  readonly source: string;
  /** `YYYY-MM-DD`: the prices that were in force on this day. */
  readonly date: string;
  readonly providers: Readonly<Record<string, Readonly<Record<string, Listed>>>>;
}

export interface Listed {
  readonly contextWindow?: number;
  readonly price: DeclaredPrice;
}

const nameThere = { anthropic: 'anthropic', openai: 'openai', gemini: 'google' } as const;

export const vendors = Object.keys(nameThere) as (keyof typeof nameThere & ProviderName)[];

/** What the package says of each text model of the bundled list that it has under the same id. */
export function readPackage(date: string): VendorPrices {
  const manifest = new URL('../package.json', import.meta.resolve('@pydantic/genai-prices'));
  const { name, version } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    readonly name: string;
    readonly version: string;
  };
  const providers = vendors.map((vendor) => {
    const there = findProvider({ providerId: nameThere[vendor] })?.models ?? [];
    const known = bundledModelsOf(vendor)
      .filter(({ type }) => type !== 'image')
      .flatMap(({ id }) => {
        const model = there.find((each) => each.id === id);
        if (model === undefined) return [];
        const price = withSound(vendor, inForce(model.prices, date));
        const contextWindow = model.context_window;
        return [[id, { ...(contextWindow !== undefined && { contextWindow }), price }] as const];
      });
    return [vendor, Object.fromEntries(known)] as const;
  });
  return { source: `${name} ${version}`, date, providers: Object.fromEntries(providers) };
}

/**
 * Gemini's models hear. Where the package has no price of sound, the vendor's page says that it costs what text costs
 * (ai.google.dev/gemini-api/docs/pricing: "text / image / video / audio").
 */
function withSound(vendor: ProviderName, price: DeclaredPrice): DeclaredPrice {
  if (vendor !== 'gemini' || price.inputAudio !== undefined) return price;
  return {
    ...price,
    ...soundOf(price),
    ...(price.tiers && { tiers: price.tiers.map(withTierSound) }),
  };
}

const withTierSound = (tier: PromptTier): PromptTier => ({ ...tier, ...soundOf(tier) });

const soundOf = ({ input, cacheRead }: TokenPrices): TokenPrices => ({
  ...(input !== undefined && { inputAudio: input }),
  ...(cacheRead !== undefined && { cacheReadAudio: cacheRead }),
});

type Prices = NonNullable<ReturnType<typeof findProvider>>['models'][number]['prices'];

/** The last prices that had begun on this day. Prices by the time of day are nobody's here. */
function inForce(prices: Prices, date: string): DeclaredPrice {
  if (!Array.isArray(prices)) return declared(prices);
  const begun = prices.findLast(
    ({ constraint }) =>
      constraint === undefined || ('start_date' in constraint && constraint.start_date <= date),
  );
  if (begun === undefined) throw new Error('no price is in force');
  return declared(begun.prices);
}

/** Here → there, per million tokens. */
const parts = {
  input: 'input_mtok',
  cacheRead: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
  output: 'output_mtok',
  inputImage: 'input_image_mtok',
  outputImage: 'output_image_mtok',
  inputAudio: 'input_audio_mtok',
  cacheReadAudio: 'cache_audio_read_mtok',
  outputAudio: 'output_audio_mtok',
  cacheReadImage: 'cache_image_read_mtok',
} as const satisfies Record<TokenPart, string>;

function declared(price: ModelPrice): DeclaredPrice {
  const tiers = new Map<number, Record<string, string>>();
  const base: Record<string, string> = {};
  for (const [here, there] of Object.entries(parts)) {
    const value = price[there];
    if (value === undefined) continue;
    if (typeof value === 'number') {
      base[here] = String(value);
      continue;
    }
    base[here] = String(value.base);
    for (const { start, price: above } of value.tiers) {
      tiers.set(start, { ...tiers.get(start), [here]: String(above) });
    }
  }
  const searches = price['web_searches_kcount'];
  return {
    ...base,
    ...(tiers.size > 0 && {
      tiers: Array.from(tiers, ([above, values]) => ({ above, ...values })),
    }),
    ...(typeof searches === 'number' && { fees: { web_search: String(searches / 1_000) } }),
  };
}
