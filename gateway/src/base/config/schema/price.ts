import { z } from 'zod';
import { tokenPartNames, tokenParts, type TokenPart } from '#canonical/index.ts';
import { dictionary, list, mapping } from '../collection.ts';
import type { Decimal, DeclaredPrice, PromptTier, TokenPrices } from '../config.ts';
import { decimal, integer, isName, string } from '../leaf.ts';
import { isAbsent } from '../scalar.ts';

/** Rates are kept as integers of 10⁻¹⁵ USD: nine decimals per million tokens, fifteen per single unit. */
const perMillion = { places: 9, minimum: '0', maximum: '1000000' };
const perUnit = { places: 15, minimum: '0', maximum: '1000000' };

const tokenPrice = () =>
  decimal('a price in USD per million tokens', perMillion, { fallback: null });

const tier = mapping({
  name: string('a tier name', isName),
  max_pixels: integer(1, 1_000_000_000_000),
  price: decimal('a price in USD', perUnit),
});

/** A part per million tokens for each name in the file. */
const tokenShape = Object.fromEntries(
  tokenPartNames.map((part) => [tokenParts[part], tokenPrice()]),
) as Record<TokenKey, ReturnType<typeof tokenPrice>>;

type TokenKey = (typeof tokenParts)[TokenPart];

function tokenPrices(values: Readonly<Record<TokenKey, Decimal | null>>): TokenPrices {
  const prices: { [Part in TokenPart]?: Decimal } = {};
  for (const part of tokenPartNames) {
    const value = values[tokenParts[part]];
    if (value !== null) prices[part] = value;
  }
  return prices;
}

const promptTier = mapping({ above: integer(1, 1_000_000_000), ...tokenShape }).transform(
  (values): PromptTier => ({ above: values.above, ...tokenPrices(values) }),
);

const byResolution = mapping({
  text: decimal('a price in USD per million tokens', perMillion),
  with_video: decimal('a price in USD per million tokens', perMillion),
});

const shape = {
  ...tokenShape,
  tiers: optional(list(promptTier)),
  image_tiers: optional(list(tier)),
  layer_factor: decimal(
    'a factor',
    { places: 9, minimum: '0', maximum: '1000' },
    { fallback: null },
  ),
  reference_image: decimal('a price in USD', perUnit, { fallback: null }),
  video_second: optional(dictionary(decimal('a price in USD per second', perUnit))),
  video_tokens: optional(dictionary(byResolution)),
  multipliers: optional(
    dictionary(decimal('a multiplier', { places: 6, minimum: '0', maximum: '1000' })),
  ),
  fees: optional(dictionary(decimal('a price in USD per use', perUnit))),
};

/** The key of each part in the file, in the order in which the parts are written. */
export type PricePart = keyof typeof shape;

export const price = mapping(shape).transform((values): DeclaredPrice => ({
  ...tokenPrices(values),
  ...(values.tiers === undefined ? {} : { tiers: values.tiers }),
  ...(values.image_tiers === undefined
    ? {}
    : {
        imageTiers: values.image_tiers.map((entry) => ({
          name: entry.name,
          maxPixels: entry.max_pixels,
          price: entry.price,
        })),
      }),
  ...(values.layer_factor === null ? {} : { layerFactor: values.layer_factor }),
  ...(values.reference_image === null ? {} : { referenceImage: values.reference_image }),
  ...(values.video_second === undefined ? {} : { videoSecond: values.video_second }),
  ...(values.video_tokens === undefined
    ? {}
    : {
        videoTokens: Object.fromEntries(
          Object.entries(values.video_tokens).map(([resolution, entry]) => [
            resolution,
            { text: entry.text, withVideo: entry.with_video },
          ]),
        ),
      }),
  ...(values.multipliers === undefined ? {} : { multipliers: values.multipliers }),
  ...(values.fees === undefined ? {} : { fees: values.fees }),
}));

function optional<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((input) => (isAbsent(input) ? undefined : input), schema.optional());
}
