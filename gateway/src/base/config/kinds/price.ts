import { z } from 'zod';
import { apartParts, tokenPartNames, tokenParts, type TokenPart } from '#canonical/index.ts';
import { dictionary, list as listOf, mapping, snakeCase } from '../collection.ts';
import { decimal, type DecimalRange, integer, isName, string } from '../leaf.ts';
import { isAbsent } from '../scalar.ts';
import type { ModelType } from './model-type.ts';

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

/** What a price is per, or that it multiplies others. */
export const priceUnits = ['million_tokens', 'picture', 'second', 'use', 'factor'] as const;
export type PriceUnit = (typeof priceUnits)[number];

/** One value of a part of a price. */
export interface PriceColumn {
  /** As in the file; empty: the part has no other value. */
  readonly name: string;
  /** A unit for a price; `count` and `text` tell rows of a list apart. */
  readonly form: PriceUnit | 'count' | 'text';
  readonly required: boolean;
  /** Of tokens that are not text, which few models have. */
  readonly rare: boolean;
  /** Decimals of a figure. */
  readonly places: number;
}

/** One part of a price. What files, forms and lists of prices know of it is derived from this. */
export interface PricePart {
  /** In the file. */
  readonly name: string;
  /** Which models can be charged by it. */
  readonly types: readonly ModelType[];
  /** `value`: the one value itself; `list`: rows in ascending order; `names`: a row for each name that the file chooses. */
  readonly rows: 'value' | 'list' | 'names';
  readonly columns: readonly PriceColumn[];
  /** What a name is one of; null: it is free, or there are none. */
  readonly names: readonly string[] | null;
  readonly schema: z.ZodType;
}

/** Rates are kept as integers of 10⁻¹⁵ USD: nine decimals per million tokens, fifteen per single unit. */
const perMillion = { places: 9, minimum: '0', maximum: '1000000' };
const perUnit = { places: 15, minimum: '0', maximum: '1000000' };
const multiplier = { places: 6, minimum: '0', maximum: '1000' };

/** What a price of each unit is, and its range. */
const figures: Readonly<Record<PriceUnit, readonly [string, DecimalRange]>> = {
  million_tokens: ['a price in USD per million tokens', perMillion],
  picture: ['a price in USD', perUnit],
  second: ['a price in USD per second', perUnit],
  use: ['a price in USD per use', perUnit],
  factor: ['a factor', { places: 9, minimum: '0', maximum: '1000' }],
};

type Column = PriceColumn & { readonly schema: z.ZodType };

const column = (
  name: string,
  form: PriceColumn['form'],
  schema: z.ZodType,
  places = 0,
): Column => ({ name, form, required: true, rare: false, places, schema });

const figure = (name: string, unit: PriceUnit) =>
  column(name, unit, decimal(...figures[unit]), figures[unit][1].places);
const optionalFigure = (name: string, unit: PriceUnit): Column => ({
  ...figure(name, unit),
  required: false,
  schema: decimal(...figures[unit], { fallback: null }),
});

const apartKeys: ReadonlySet<string> = new Set(apartParts.map((part) => tokenParts[part]));
const tokenColumns = tokenPartNames.map((part): Column => ({
  ...optionalFigure(tokenParts[part], 'million_tokens'),
  rare: apartKeys.has(tokenParts[part]),
}));

/** A mapping of the columns; absent values are absent. */
const rowOf = (columns: readonly Column[]): z.ZodType =>
  mapping(Object.fromEntries(columns.map(({ name, schema }) => [name, schema]))).transform(
    withoutAbsent,
  );

function shown(column: Column): PriceColumn {
  const { schema: _, ...rest } = column;
  return rest;
}

const value = (name: string, types: readonly ModelType[], of: Column): PricePart => ({
  name,
  types,
  rows: 'value',
  columns: [{ ...shown(of), name: '' }],
  names: null,
  schema: of.schema,
});

const list = (
  name: string,
  types: readonly ModelType[],
  columns: readonly Column[],
): PricePart => ({
  name,
  types,
  rows: 'list',
  columns: columns.map(shown),
  names: null,
  schema: optional(listOf(rowOf(columns))),
});

/** @param columns one without a name: each name has the value itself */
const byName = (
  name: string,
  types: readonly ModelType[],
  columns: readonly [Column, ...Column[]],
  names: readonly string[] | null = null,
): PricePart => ({
  name,
  types,
  rows: 'names',
  columns: columns.map(shown),
  names,
  schema: optional(dictionary(columns[0].name === '' ? columns[0].schema : rowOf(columns))),
});

function typesOfTokens(key: string): readonly ModelType[] {
  if (key === 'input') return ['chat', 'image', 'embedding'];
  return key.endsWith('_audio') ? ['chat'] : ['chat', 'image'];
}

/** Every part of a price, in the order in which they are written. */
export const priceParts: readonly PricePart[] = [
  ...tokenColumns.map((each) => value(each.name, typesOfTokens(each.name), each)),
  list('tiers', ['chat'], [column('above', 'count', integer(1, 1_000_000_000)), ...tokenColumns]),
  list(
    'image_tiers',
    ['image'],
    [
      column('name', 'text', string('a tier name', isName)),
      column('max_pixels', 'count', integer(1, 1_000_000_000_000)),
      figure('price', 'picture'),
    ],
  ),
  value('layer_factor', ['image'], optionalFigure('layer_factor', 'factor')),
  value('reference_image', ['image'], optionalFigure('reference_image', 'picture')),
  byName('video_second', ['video'], [figure('', 'second')]),
  byName(
    'video_tokens',
    ['video'],
    [figure('text', 'million_tokens'), figure('with_video', 'million_tokens')],
  ),
  byName(
    'multipliers',
    ['chat', 'image'],
    [column('', 'factor', decimal('a multiplier', multiplier), multiplier.places)],
  ),
  byName('fees', ['chat', 'image'], [figure('', 'use')], feeNames),
];

export const price = mapping(
  Object.fromEntries(priceParts.map(({ name, schema }) => [name, schema])),
).transform((values): DeclaredPrice => withoutAbsent(values) as DeclaredPrice);

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
