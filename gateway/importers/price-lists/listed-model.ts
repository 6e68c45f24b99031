import { tokenPartNames, tokenParts, type TokenPart } from '#canonical/index.ts';
import type { DeclaredModel, DeclaredPrice, PromptTier, TokenPrices } from '#config/index.ts';
import { scaled } from '#config/decimal.ts';
import { ExactNumber } from './exact-json.ts';

/** One model of a public price list, as far as one price can express its cost. */
export interface ListedModel extends Pick<
  DeclaredModel,
  'id' | 'type' | 'contextWindow' | 'maxOutputTokens'
> {
  readonly price: DeclaredPrice;
}

/** Why a model of the list was left out. */
export type SkipReason =
  | 'no price per token'
  | 'listed as free'
  | 'other prices for long prompts'
  | 'reasoning has a price of its own'
  | 'more digits than a price can have'
  | 'neither text nor images'
  | 'another provider has it at another price';

export interface Skipped {
  readonly id: string;
  readonly provider: string;
  readonly reason: SkipReason;
}

export type Listing =
  | { readonly provider: string; readonly model: ListedModel }
  | { readonly provider: string; readonly skipped: Skipped };

/** Costs of a list by the parts that they are here. */
export type ListedParts = { readonly [Part in TokenPart]?: unknown };

/** USD per million tokens has at most nine decimals. */
const places = 9;
const dearest = 1_000_000n * 10n ** 9n;

/**
 * The price from the costs in a list, each × 10^`shift` to be per million tokens. Absent and null costs are left out.
 */
export function listedPrice(parts: ListedParts, shift: number): DeclaredPrice | SkipReason {
  const price = listedParts(parts, shift);
  if (typeof price === 'string') return price;
  if (price.input === undefined || price.output === undefined) return 'no price per token';
  // What is not known is often listed as 0, and would be given away.
  if (price.input === '0' && price.output === '0') return 'listed as free';
  return price;
}

/**
 * The prices of prompts of more than `above` tokens. Undefined: the list has none.
 * @param parts absent and null costs are those without the tier
 */
export function listedTier(
  above: number,
  parts: ListedParts,
  shift: number,
): PromptTier | SkipReason | undefined {
  const tier = listedParts(parts, shift);
  if (typeof tier === 'string') return tier;
  return Object.keys(tier).length === 0 ? undefined : { above, ...tier };
}

/** The same for an embedding model, which has no output to charge for: lists give it as 0, or leave it out. */
export function listedEmbeddingPrice(
  { input, output }: ListedParts,
  shift: number,
): DeclaredPrice | SkipReason {
  const price = listedParts({ input, output }, shift);
  if (typeof price === 'string') return price;
  if (price.input === undefined || (price.output ?? '0') !== '0') return 'no price per token';
  return price.input === '0' ? 'listed as free' : { input: price.input };
}

function listedParts(parts: ListedParts, shift: number): DeclaredPrice | SkipReason {
  const price: { [Part in TokenPart]?: string } = {};
  for (const part of Object.keys(parts) as TokenPart[]) {
    const value = parts[part];
    if (value === undefined || value === null) continue;
    const decimal = value instanceof ExactNumber ? value.decimal(shift) : null;
    if (decimal === null || decimal.startsWith('-')) return 'no price per token';
    const exact = scaled(decimal, places);
    if (exact === null || exact > dearest) return 'more digits than a price can have';
    price[part] = decimal;
  }
  return price;
}

/** A whole number of a list; null for anything else. */
export function listedCount(value: unknown): number | null {
  return value instanceof ExactNumber ? value.count() : null;
}

/** A model as an entry of `models:` in the configuration; prices are decimal text. */
export interface ModelEntry {
  readonly id: string;
  readonly type: ListedModel['type'];
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly price: Readonly<
    Record<
      string,
      | string
      | Readonly<Record<string, string>>
      | readonly Readonly<Record<string, number | string>>[]
    >
  >;
}

function partsOf(price: TokenPrices): Record<string, string> {
  return Object.fromEntries(
    tokenPartNames.flatMap((part) => {
      const decimal = price[part];
      return decimal === undefined ? [] : [[tokenParts[part], decimal] as const];
    }),
  );
}

/** The model as a person would write it into the file. */
export function toModelEntry(model: ListedModel): ModelEntry {
  const { id, type, contextWindow, maxOutputTokens, price } = model;
  return {
    id,
    type,
    ...(contextWindow === null ? {} : { context_window: contextWindow }),
    ...(maxOutputTokens === null ? {} : { max_output_tokens: maxOutputTokens }),
    price: {
      ...partsOf(price),
      ...(price.tiers !== undefined && {
        tiers: price.tiers.map((tier) => ({ above: tier.above, ...partsOf(tier) })),
      }),
      ...(price.multipliers !== undefined && { multipliers: price.multipliers }),
      ...(price.fees !== undefined && { fees: price.fees }),
    },
  };
}
