import type { Model } from '#catalogue/index.ts';
import { holdOf, mostHeld, type Factor, type CostLine, type Multiplier } from './cost.ts';
import { dearestRatesFor, fullReach, type PriceRates, type Reach } from './rates.ts';
import { factorOf } from './usage-lines.ts';

export interface TextDemand {
  /** Of the request as received. */
  readonly bodyBytes: number;
  /** As the client wrote it; null if it set no limit. Untrusted: it may be any number. */
  readonly outputLimit: number | null;
  /** The number of requested choices; null for one. Untrusted too. */
  readonly choices: number | null;
  /** Input that the bytes do not reveal; absent: none. */
  readonly extent?: DemandedInput;
  /** Requested terms that may multiply the price, such as `service_tier.priority`. Absent: none. */
  readonly terms?: readonly string[];
  /** Absent: any kind of token. */
  readonly reach?: Reach;
  /** The most provider searches that it allows; null: unlimited. Absent: none. */
  readonly webSearches?: number | null;
}

export interface DemandedInput {
  readonly images: number;
  /** The most tokens that any model which may respond needs for an image. */
  readonly imageTokens: number;
  /** The part of `bodyBytes` that is images. */
  readonly imageBytes: number;
  /** Input of unknown length, limited only by the model's window. */
  readonly unseen: boolean;
  /** The upstream runs tools in between. */
  readonly hostedTools: boolean;
  /** The upstream may compact a long conversation first, which is a separate sampling. Absent: no. */
  readonly compacts?: boolean;
}

/** The assumed output limit if neither the request nor the model sets a lower one. */
export const usualOutput = 16_384;
/** JSON and text of a body hardly make more tokens than this. */
export const bytesPerToken = 2;
/** The assumed limit of unseen input if the model has no known window. */
const usualWindow = 200_000;
/** The assumed limit of what a provider's tools find: a few searches and the pages they name. More is overshoot. */
const usualFindings = 50_000;

/** The assumed searches of a response if the request sets no limit. More is overshoot. */
export const usualSearches = 5;

/** No upstream compacts a shorter conversation. In tokens; Anthropic's least `trigger`. */
const leastCompacted = 50_000;

type BoundingModel = Pick<Model, 'maxOutputTokens'> & Partial<Pick<Model, 'contextWindow'>>;

/** The tokens in the hold of a text request. */
export function tokenBounds(
  model: BoundingModel,
  { bodyBytes, outputLimit, choices, extent }: TextDemand,
): { readonly input: bigint; readonly output: bigint } {
  const each = countOf(choices) ?? 1n;
  const limit = countOf(outputLimit) ?? BigInt(usualOutput);
  // No response is longer than the model allows. A hold for more would keep everybody else's money for nothing.
  const longest = countOf(model.maxOutputTokens) ?? limit;
  const output = limit < longest ? limit : longest;
  const input =
    extent === undefined ? bodyBytes / bytesPerToken : inputBound(model, bodyBytes, extent);
  const samplings = extent?.compacts === true && input >= leastCompacted ? 2n * each : each;
  return {
    input: (countOf(input) ?? 0n) * samplings,
    output: output * samplings,
  };
}

function inputBound(
  { contextWindow }: BoundingModel,
  bodyBytes: number,
  { images, imageTokens, imageBytes, unseen, hostedTools }: DemandedInput,
): number {
  const window = contextWindow ?? usualWindow;
  const textTokens = Math.max(0, bodyBytes - imageBytes) / bytesPerToken;
  const imageInput = Math.min(images * imageTokens, window);
  const findings = hostedTools ? Math.min(usualFindings, window) : 0;
  return Math.max(textTokens + imageInput + findings, unseen ? window : 0);
}

/**
 * The most that a text request can use: every token in the dearest part that it can reach, every choice as long as
 * possible.
 * @throws RangeError for a price without input or output, at which no text model is served.
 */
export function textBound(
  rates: PriceRates,
  model: BoundingModel,
  demand: TextDemand,
): readonly CostLine<bigint>[] {
  const bounds = tokenBounds(model, demand);
  const dearest = dearestRatesFor(rates, bounds.input, demand.reach ?? fullReach);
  if (dearest === null) throw new RangeError('no price for text');
  const lines: CostLine<bigint>[] = [
    { rate: dearest.input, quantity: bounds.input },
    { rate: dearest.output, quantity: bounds.output },
  ];
  const { terms = [], webSearches } = demand;
  const factor = terms.length === 0 ? undefined : dearestFactor(rates, terms);
  const tokens = factor === undefined ? lines : lines.map((line) => ({ ...line, factor }));
  if (webSearches === undefined) return tokens;
  const searches = countOf(webSearches) ?? BigInt(webSearches === null ? usualSearches : 0);
  return [...tokens, ...feeBounds(rates, searches)];
}

/** An untrusted number as a count, rounded up; null for none and for meaningless values (0, negative, NaN). */
export function countOf(value: number | null): bigint | null {
  if (value === null || Number.isNaN(value) || value <= 0) return null;
  return Number.isFinite(value) ? BigInt(Math.ceil(value)) : mostHeld;
}

/**
 * The factor of a hold under these surcharges: a discount does not lower the bound, because the upstream may not grant
 * it.
 */
export function dearestFactor(rates: PriceRates, names: readonly string[]): Factor | undefined {
  const dear = names.filter((name) => (rates.multipliers.get(name) ?? 0n) > 1_000_000n);
  return factorOf(rates, dear);
}

/** The most that uses can cost, per search and once. */
export function feeBounds(rates: PriceRates, webSearches: bigint): CostLine<bigint>[] {
  if (webSearches === 0n) return [];
  return Array.from(rates.fees, ([name, rate]) => ({
    rate,
    quantity: name === 'grounded_prompt' ? 1n : webSearches,
  }));
}

/** Of what output costs, this many tokens are rounded together. */
const together = 1_000_000n;

export interface HeldMoney {
  readonly rates: PriceRates;
  readonly multiplier: Multiplier;
  /** Nano-USD. */
  readonly amount: bigint;
}

export interface OutputDemand {
  readonly choices: number;
  /** Requested terms that may multiply the price. */
  readonly terms: readonly string[];
  readonly reach: Reach;
}

/**
 * How many tokens of output each choice may have for the money of a hold, in addition to this input, both in their
 * dearest parts. Null: output costs nothing.
 */
export function affordableOutput(
  { rates, multiplier, amount }: HeldMoney,
  inputTokens: number,
  { choices, terms, reach }: OutputDemand,
): number | null {
  const dearest = dearestRatesFor(rates, inputTokens, reach);
  if (dearest === null) return null;
  const factor = dearestFactor(rates, terms);
  const factored = factor === undefined ? {} : { factor };
  const input = { rate: dearest.input, quantity: BigInt(Math.ceil(inputTokens)), ...factored };
  const remainder = amount - holdOf([input], multiplier);
  const price = holdOf([{ rate: dearest.output, quantity: together, ...factored }], multiplier);
  if (price === 0n) return null;
  if (remainder <= 0n) return 0;
  const tokens = (remainder * together) / price / BigInt(Math.max(1, choices));
  return Number(tokens > 2n ** 40n ? 2n ** 40n : tokens);
}
