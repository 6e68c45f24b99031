import { z } from 'zod';
import { tokenPartNames, tokenParts, type TokenPart } from '#canonical/index.ts';
import { dictionary, list, mapping } from '../collection.ts';
import type { DeclaredPrice, PromptTier } from '../config.ts';
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

const promptTier = mapping({ above: integer(1, 1_000_000_000), ...tokenShape }).transform(
  (values): PromptTier => withoutAbsent(values) as PromptTier,
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

export const price = mapping(shape).transform(
  (values): DeclaredPrice => withoutAbsent(values) as DeclaredPrice,
);

/** Absent parts are absent. */
function withoutAbsent(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null));
}

function optional<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((input) => (isAbsent(input) ? undefined : input), schema.optional());
}
