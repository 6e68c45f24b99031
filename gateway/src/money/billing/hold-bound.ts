import type { Model } from '#catalogue/index.ts';
import { ceilingOf, type Line, type Multiplier } from './cost.ts';
import type { PriceRates } from './rates.ts';
import { dearestFactor, feeBounds } from './surcharges.ts';

export interface TextDemand {
  /** Of the request as it came. */
  readonly bodyBytes: number;
  /** As the client wrote it; null when it set no limit. Not to be trusted: any number will do. */
  readonly outputLimit: number | null;
  /** How many answers it wants; null for one. Not to be trusted either. */
  readonly choices: number | null;
  /** What of its input the bytes do not tell; absent: nothing. */
  readonly extent?: DemandedInput;
  /** Terms it asks for that may multiply the price, such as `service_tier.priority`. Absent: none. */
  readonly terms?: readonly string[];
  /** The most searches of the provider's that it allows; null: it sets no limit. Absent: it allows none. */
  readonly webSearches?: number | null;
}

export interface DemandedInput {
  readonly images: number;
  /** The most that any model which may answer takes for an image. */
  readonly imageTokens: number;
  /** Of `bodyBytes`, those that are images. */
  readonly imageBytes: number;
  /** Input of any length, so that nothing but the model's window bounds it. */
  readonly unseen: boolean;
  /** The upstream runs tools in between. */
  readonly hostedTools: boolean;
}

/** What a request is taken to want at most when neither it nor the model says less. */
const usualOutput = 16_384;
/** A body's JSON and text hardly make more tokens than this. */
const bytesPerToken = 2;
/** What unseen input is taken to be at most when the model does not say its window. */
const usualWindow = 200_000;
/** What a provider's tools are taken to find at most: some searches and the pages they name. More is overshoot. */
const usualFindings = 50_000;
/** What a 64-bit column holds; amounts beyond it are all the same: more than anybody has. */
const most = 2n ** 63n - 1n;

/** Searches that an answer is taken to make at most when the request sets no limit. More is overshoot. */
const usualSearches = 5;

type BoundingModel = Pick<Model, 'maxOutputTokens'> & Partial<Pick<Model, 'contextWindow'>>;

/** The tokens a text request is held for. */
export function tokenBounds(
  model: BoundingModel,
  { bodyBytes, outputLimit, choices, extent }: TextDemand,
): { readonly input: bigint; readonly output: bigint } {
  const each = bounded(choices) ?? 1n;
  const output =
    bounded(outputLimit) ?? BigInt(Math.min(model.maxOutputTokens ?? usualOutput, usualOutput));
  const input =
    extent === undefined ? bodyBytes / bytesPerToken : inputBound(model, bodyBytes, extent);
  return {
    input: (bounded(input) ?? 0n) * each,
    output: output * each,
  };
}

function inputBound(
  { contextWindow }: BoundingModel,
  bodyBytes: number,
  { images, imageTokens, imageBytes, unseen, hostedTools }: DemandedInput,
): number {
  const window = contextWindow ?? usualWindow;
  const said = Math.max(0, bodyBytes - imageBytes) / bytesPerToken;
  const shown = Math.min(images * imageTokens, window);
  const found = hostedTools ? Math.min(usualFindings, window) : 0;
  return Math.max(said + shown + found, unseen ? window : 0);
}

/**
 * The most that a text request can use: every input token in the dearest part, every answer as long as it may get.
 * @throws RangeError for a price without input or output, which no text model is served at.
 */
export function textBound(
  rates: PriceRates,
  model: BoundingModel,
  demand: TextDemand,
): readonly Line<bigint>[] {
  if (rates.tokens === null) throw new RangeError('no price for text');
  const bounds = tokenBounds(model, demand);
  const lines: Line<bigint>[] = [
    { rate: rates.tokens.dearestInput, quantity: bounds.input },
    { rate: rates.tokens.output, quantity: bounds.output },
  ];
  const { terms = [], webSearches } = demand;
  const factor = terms.length === 0 ? undefined : dearestFactor(rates, terms);
  const tokens = factor === undefined ? lines : lines.map((line) => ({ ...line, factor }));
  if (webSearches === undefined) return tokens;
  const searches = bounded(webSearches) ?? BigInt(webSearches === null ? usualSearches : 0);
  return [...tokens, ...feeBounds(rates, searches)];
}

/** The hold for the most that an exchange can use, in nano-USD. Saturates at 2⁶³−1. */
export function holdOf(lines: readonly Line<number | bigint>[], multiplier: Multiplier): bigint {
  return saturate(ceilingOf(lines, multiplier));
}

export interface ImageDemand {
  readonly images: number | null;
  /** Layers each picture may be taken apart into; 0 when that is not asked for. */
  readonly layers: number;
  readonly referenceImages: number;
}

/**
 * The most that pictures priced by tier can cost: what comes back decides the tier, so each counts as the dearest.
 * @throws RangeError for a price without tiers.
 */
export function imageBound(
  rates: PriceRates,
  { images, layers, referenceImages }: ImageDemand,
): readonly Line<bigint>[] {
  const count = bounded(images) ?? 1n;
  const dearest = (of: 'image' | 'layer') =>
    rates.imageTiers.map((tier) => tier[of]).toSorted((a, b) => (a.perUnit < b.perUnit ? 1 : -1));
  const [image] = dearest('image');
  const [layer] = dearest('layer');
  if (image === undefined || layer === undefined) throw new RangeError('no price for pictures');
  return [
    { rate: image, quantity: count },
    { rate: layer, quantity: count * (bounded(layers) ?? 0n) },
    { rate: rates.referenceImage, quantity: bounded(referenceImages - 1) ?? 0n },
  ];
}

/** A number from outside as a count, rounded up; null for none, and for what says nothing (0, less, NaN). */
function bounded(value: number | null): bigint | null {
  if (value === null || Number.isNaN(value) || value <= 0) return null;
  return Number.isFinite(value) ? BigInt(Math.ceil(value)) : most;
}

function saturate(amount: bigint): bigint {
  return amount > most ? most : amount;
}
