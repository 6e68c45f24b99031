import { tokenParts, type ApartPart, type TokenPart } from '#canonical/index.ts';
import type { Decimal, DeclaredPrice } from '#config/index.ts';
import { scaled } from '#config/decimal.ts';

/** One part of a price, ready for multiplication. */
export interface Rate {
  /** As in the configuration: `input`, `cache_read`, `image_tiers.2K`, `video_second.720P`. */
  readonly part: string;
  /** 10⁻¹⁵ USD per unit: a token, an image, a second. */
  readonly perUnit: bigint;
  /** The same in decimal digits, for receipts. */
  readonly text: string;
  /** Quantities are thousandths of the unit: milliseconds for a price per second. */
  readonly inThousandths: boolean;
}

/** The cost of a response's tokens, in and out. A part that is null is charged as the text that it is counted with. */
export type TokenRates = Readonly<
  Record<Exclude<TokenPart, ApartPart>, Rate> & Record<ApartPart, Rate | null>
>;

/** The rates of prompts of more than `above` tokens. */
export interface PromptTierRates {
  readonly above: number;
  readonly tokens: TokenRates;
}

export interface TierRates {
  readonly name: string;
  readonly maxPixels: number;
  readonly image: Rate;
  /** Null if the price has no factor for layers. */
  readonly layer: Rate | null;
}

/** A price with its defaults filled in, as integers. Parts that a kind of model does not have are null or empty. */
export interface PriceRates {
  /** Null unless input and output are priced, as a text response requires. */
  readonly tokens: TokenRates | null;
  /** By the length of the prompt, ascending; empty: one price for all. */
  readonly promptTiers: readonly PromptTierRates[];
  /** Of input, for an operation without output; null unless it is priced. */
  readonly input: Rate | null;
  /** Ascending. */
  readonly imageTiers: readonly TierRates[];
  /** Each source image after the first; null if that is not priced. */
  readonly referenceImage: Rate | null;
  readonly videoSecond: ReadonlyMap<string, Rate>;
  readonly videoTokens: ReadonlyMap<string, { readonly text: Rate; readonly withVideo: Rate }>;
  /** By the name of a surcharge, in millionths: the factor for token rates if a response reports it. */
  readonly multipliers: ReadonlyMap<string, bigint>;
  /** Per use, by its name. */
  readonly fees: ReadonlyMap<string, Rate>;
  /** Whether every priced part costs 0. False for a price without parts: unnamed parts are not free. */
  readonly isZero: boolean;
}

/** A rate has 10⁻¹⁵ USD: nine decimals of a price per million units, all fifteen of a price per unit. */
const perMillionPlaces = 9;
const perUnitPlaces = 15;
const factorPlaces = 9;
const multiplierPlaces = 6;

const ratesByPrice = new WeakMap<DeclaredPrice, PriceRates>();

/**
 * The rates of a price. Computed once per price object, which a snapshot of the catalogue shares among requests.
 * @throws RangeError for a price with digits beyond 10⁻¹⁵ USD per unit, which the catalogue refuses.
 */
export function ratesOf(price: DeclaredPrice): PriceRates {
  let rates = ratesByPrice.get(price);
  if (rates === undefined) {
    rates = compileRates(price);
    ratesByPrice.set(price, rates);
  }
  return rates;
}

function compileRates(price: DeclaredPrice): PriceRates {
  const {
    imageTiers = [],
    videoSecond = {},
    videoTokens = {},
    multipliers = {},
    fees = {},
  } = price;
  const factor = price.layerFactor === undefined ? null : exact(price.layerFactor, factorPlaces);
  const tokens = compileTokenRates(price);
  const rates = {
    tokens,
    promptTiers: tokens === null ? [] : compilePromptTiers(price),
    input: price.input === undefined ? null : perMillion('input', price.input),
    imageTiers: imageTiers.map(({ name, maxPixels, price: perImage }) => {
      const image = exact(perImage, perUnitPlaces);
      return {
        name,
        maxPixels,
        image: rate(`image_tiers.${name}`, image),
        layer:
          factor === null
            ? null
            : rate(`layer_factor.${name}`, divideHalfEven(image * factor, 10n ** 9n)),
      };
    }),
    referenceImage:
      price.referenceImage === undefined ? null : perUnit('reference_image', price.referenceImage),
    videoSecond: new Map(
      Object.entries(videoSecond).map(([resolution, perSecond]) => [
        resolution,
        rate(`video_second.${resolution}`, exact(perSecond, perUnitPlaces), true),
      ]),
    ),
    videoTokens: new Map(
      Object.entries(videoTokens).map(([resolution, { text, withVideo }]) => [
        resolution,
        {
          text: perMillion(`video_tokens.${resolution}.text`, text),
          withVideo: perMillion(`video_tokens.${resolution}.with_video`, withVideo),
        },
      ]),
    ),
    multipliers: new Map(
      Object.entries(multipliers).map(([name, by]) => [name, exact(by, multiplierPlaces)]),
    ),
    fees: new Map(
      Object.entries(fees).map(([name, perUse]) => [name, perUnit(`fees.${name}`, perUse)]),
    ),
  };
  return Object.freeze({ ...rates, isZero: isZero(rates) });
}

function isZero(rates: Omit<PriceRates, 'isZero'>): boolean {
  const { input, tokens, promptTiers, imageTiers, referenceImage, videoSecond, videoTokens, fees } =
    rates;
  const parts = [
    input,
    ...(tokens === null ? [] : Object.values(tokens)),
    ...promptTiers.flatMap((tier) => Object.values(tier.tokens)),
    ...imageTiers.flatMap(({ image, layer }) => [image, layer]),
    referenceImage,
    ...videoSecond.values(),
    ...videoTokens.values().flatMap(({ text, withVideo }) => [text, withVideo]),
    ...fees.values(),
  ].filter((part) => part !== null);
  return parts.length > 0 && parts.every(({ perUnit }) => perUnit === 0n);
}

/** A part that a tier does not name costs what it costs without tiers. */
function compilePromptTiers(price: DeclaredPrice): PromptTierRates[] {
  return (price.tiers ?? []).map(({ above, ...parts }) => {
    const tokens = compileTokenRates({ ...price, ...parts }, `tiers.${above}.`);
    if (tokens === null) throw new RangeError('a tier without input or output');
    return { above, tokens };
  });
}

/** Null unless both ends are priced. Every other part falls back as the configuration contract states. */
function compileTokenRates(price: DeclaredPrice, before = ''): TokenRates | null {
  const { input, output } = price;
  if (input === undefined || output === undefined) return null;
  const rateOf = (part: TokenPart, of: Decimal) => perMillion(before + tokenParts[part], of);
  const apart = (part: ApartPart, of = price[part]) => (of === undefined ? null : rateOf(part, of));
  const cacheWrite = price.cacheWrite ?? input;
  // Without a price for reading a cache, what comes from it costs as much as new.
  const cachedRate = (part: 'cacheReadImage' | 'cacheReadAudio', anew: Decimal | undefined) =>
    apart(part, price[part] ?? (price.cacheRead === undefined ? anew : undefined));
  return {
    input: rateOf('input', input),
    inputImage: apart('inputImage'),
    inputAudio: apart('inputAudio'),
    cacheRead: rateOf('cacheRead', price.cacheRead ?? input),
    cacheReadImage: cachedRate('cacheReadImage', price.inputImage),
    cacheReadAudio: cachedRate('cacheReadAudio', price.inputAudio),
    cacheWrite: rateOf('cacheWrite', cacheWrite),
    cacheWrite1h: rateOf('cacheWrite1h', price.cacheWrite1h ?? cacheWrite),
    output: rateOf('output', output),
    outputImage: apart('outputImage'),
    outputAudio: apart('outputAudio'),
  };
}

/**
 * The rates of a response to a prompt of this many tokens, all of them counted: cached, written and read. Null: the
 * price has none.
 */
export function tokenRatesFor(
  { tokens, promptTiers }: PriceRates,
  prompt: number,
): TokenRates | null {
  return promptTiers.findLast(({ above }) => prompt > above)?.tokens ?? tokens;
}

/** The kinds of tokens other than text that a request may use. */
export interface Reach {
  readonly inputImage: boolean;
  readonly inputAudio: boolean;
  readonly outputImage: boolean;
  readonly outputAudio: boolean;
}

/** Nothing is known to be out of reach. */
export const fullReach: Reach = Object.freeze({
  inputImage: true,
  inputAudio: true,
  outputImage: true,
  outputAudio: true,
});

/**
 * The dearest parts that a request with a prompt of at most this many tokens can be charged by. Null: the price has
 * none.
 */
export function dearestRatesFor(
  { tokens, promptTiers }: PriceRates,
  longest: number | bigint,
  reach: Reach,
): { readonly input: Rate; readonly output: Rate } | null {
  if (tokens === null) return null;
  let input = dearestIn(tokens, inputParts, reach, tokens.input);
  let output = dearestIn(tokens, outputParts, reach, tokens.output);
  for (const tier of promptTiers) {
    if (longest <= tier.above) break;
    input = dearestIn(tier.tokens, inputParts, reach, input);
    output = dearestIn(tier.tokens, outputParts, reach, output);
  }
  return { input, output };
}

/** The parts by which tokens can be charged, and what a request must reach for it. */
type ReachedParts = readonly (readonly [part: TokenPart, needs?: keyof Reach])[];

const inputParts: ReachedParts = [
  ['input'],
  ['cacheRead'],
  ['cacheWrite'],
  ['cacheWrite1h'],
  ['inputImage', 'inputImage'],
  ['cacheReadImage', 'inputImage'],
  ['inputAudio', 'inputAudio'],
  ['cacheReadAudio', 'inputAudio'],
];
const outputParts: ReachedParts = [
  ['output'],
  ['outputImage', 'outputImage'],
  ['outputAudio', 'outputAudio'],
];

/** The highest of a rate and these; the first of equal ones. */
function dearestIn(rates: TokenRates, parts: ReachedParts, reach: Reach, least: Rate): Rate {
  let dearest = least;
  for (const [part, needs] of parts) {
    const rate = rates[part];
    const isReached = needs === undefined || reach[needs];
    if (isReached && rate !== null && rate.perUnit > dearest.perUnit) dearest = rate;
  }
  return dearest;
}

/** The highest of some rates; the first of equal ones. */
export const dearestOf = (rates: readonly Rate[]): Rate =>
  rates.reduce((dearest, rate) => (rate.perUnit > dearest.perUnit ? rate : dearest));

const perMillion = (part: string, price: Decimal) => rate(part, exact(price, perMillionPlaces));
const perUnit = (part: string, price: Decimal) => rate(part, exact(price, perUnitPlaces));

function rate(part: string, perUnit: bigint, inThousandths = false): Rate {
  return Object.freeze({ part, perUnit, text: perUnit.toString(), inThousandths });
}

function exact(price: Decimal, places: number): bigint {
  const value = scaled(price, places);
  if (value === null || value < 0n) throw new RangeError(`not a price: '${price}'`);
  return value;
}

/** `dividend / divisor` for `dividend` ≥ 0, to the nearest integer, a tie to the even one. */
export function divideHalfEven(dividend: bigint, divisor: bigint): bigint {
  const quotient = dividend / divisor;
  const twice = (dividend - quotient * divisor) * 2n;
  const up = twice > divisor || (twice === divisor && (quotient & 1n) === 1n);
  return up ? quotient + 1n : quotient;
}
