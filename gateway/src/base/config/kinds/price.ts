import { z } from 'zod';
import { tokenPartNames, tokenParts, type TokenPart } from '#canonical/index.ts';
import { dictionary, list, mapping, snakeCase } from '../collection.ts';
import { decimal, integer, isName, string } from '../leaf.ts';
import { isAbsent } from '../scalar.ts';

/** A decimal string in USD exactly as written, validated: digits, optional fraction, optional leading `-`. */
export type Decimal = string;

/** Prices as decimal strings, USD per million tokens; absent parts are absent. */
export type TokenPrices = { readonly [Part in TokenPart]?: Decimal };

/** Prices as decimal strings, per token or as named; absent parts are absent. */
export interface DeclaredPrice extends TokenPrices {
  /** By the length of the prompt, ascending. The whole prompt chooses one tier for all parts; up to the first, none. */
  readonly tiers?: readonly PromptTier[];
  readonly imageTiers?: readonly {
    readonly name: string;
    readonly maxPixels: number;
    readonly price: Decimal;
  }[];
  readonly layerFactor?: Decimal;
  readonly referenceImage?: Decimal;
  /** Resolution → USD per second. */
  readonly videoSecond?: Readonly<Record<string, Decimal>>;
  /** Resolution → USD per million tokens. */
  readonly videoTokens?: Readonly<
    Record<string, { readonly text: Decimal; readonly withVideo: Decimal }>
  >;
  /** `service_tier.priority` → the factor for every token price when the response reports it. */
  readonly multipliers?: Readonly<Record<string, Decimal>>;
  /** `web_search` → USD per use that the response reports. */
  readonly fees?: Readonly<Record<string, Decimal>>;
}

/** Prices of prompts of more than `above` tokens. A part that is absent costs what it costs without tiers. */
export interface PromptTier extends TokenPrices {
  readonly above: number;
}

/**
 * Request members whose value can change the price of a response. A price names member and value with a dot between.
 */
export const surchargeFields = ['service_tier', 'speed', 'inference_geo'] as const;

/**
 * Members by which a request names further models. Those may answer in place of the model whose price the request pays.
 */
const modelFields = ['models.other', 'fallbacks.other'];

/** Uses with a fee of their own. `grounded_prompt` counts once per response, however many searches it took. */
export const feeNames = ['web_search', 'grounded_prompt'] as const;

const valueShape = /^[a-z0-9_-]{1,40}$/;

/** A field and its value, as in `service_tier.priority`. */
export function isSurchargeName(text: string): boolean {
  const field = surchargeFields.find((name) => text.startsWith(`${name}.`));
  return field !== undefined && valueShape.test(text.slice(field.length + 1));
}

/** Whether a model's `allow` may name it. */
export function isAllowable(text: string): boolean {
  return isSurchargeName(text) || modelFields.includes(text);
}

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
export const priceParts = Object.keys(shape) as readonly PricePart[];

export const price = mapping(shape).transform(
  (values): DeclaredPrice => withoutAbsent(values) as DeclaredPrice,
);

/** Absent parts are absent. */
function withoutAbsent(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value != null));
}

/** As a file has it. What people name themselves, such as resolutions, stays as it is. */
export function writePrice(parts: DeclaredPrice): object {
  const rename = (value: unknown): unknown =>
    typeof value === 'object' && value !== null
      ? Object.fromEntries(Object.entries(value).map(([name, part]) => [snakeCase(name), part]))
      : value;
  const asWritten = (value: object): object =>
    Array.isArray(value)
      ? value.map(rename)
      : Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rename(part)]));
  return Object.fromEntries(
    Object.entries(parts).map(([part, value]) => [
      snakeCase(part),
      typeof value === 'object' ? asWritten(value as object) : value,
    ]),
  );
}

function optional<Schema extends z.ZodType>(schema: Schema) {
  return z.preprocess((input) => (isAbsent(input) ? undefined : input), schema.optional());
}
