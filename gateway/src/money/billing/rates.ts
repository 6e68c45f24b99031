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

/** The cost of input tokens, by part. */
export interface InputRates {
  readonly input: Rate;
  readonly inputImage: Rate;
  readonly cacheRead: Rate;
  readonly cacheWrite: Rate;
  readonly cacheWrite1h: Rate;
  /** The highest of these parts. */
  readonly dearestInput: Rate;
}

/** The cost of a response's tokens, in and out. */
export interface TokenRates extends InputRates {
  readonly output: Rate;
  /** Of pictures, where a response reports them apart. */
  readonly outputImage: Rate;
  /** The highest of the output parts. */
  readonly dearestOutput: Rate;
}

/** The rates of prompts of more than `above` tokens. */
export interface PromptTierRates {
  readonly above: number;
  readonly tokens: TokenRates;
  /** The dearest part of this and of every shorter prompt. */
  readonly dearestInput: Rate;
  readonly output: Rate;
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
  /** Null unless input is priced, as an operation without output requires. */
  readonly inputTokens: InputRates | null;
  /** Ascending. */
  readonly imageTiers: readonly TierRates[];
  /** Each source picture after the first; null if that is not priced. */
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

const known = new WeakMap<DeclaredPrice, PriceRates>();

/**
 * The rates of a price. Computed once per price object, which a snapshot of the catalogue shares among requests.
 * @throws RangeError for a price with digits beyond 10⁻¹⁵ USD per unit, which the catalogue refuses.
 */
export function ratesOf(price: DeclaredPrice): PriceRates {
  let rates = known.get(price);
  if (rates === undefined) {
    rates = compileRates(price);
    known.set(price, rates);
  }
  return rates;
}

function compileRates(price: DeclaredPrice): PriceRates {
  const inputTokens = compileInputRates(price);
  const {
    imageTiers = [],
    videoSecond = {},
    videoTokens = {},
    multipliers = {},
    fees = {},
  } = price;
  const factor = price.layerFactor === undefined ? null : exact(price.layerFactor, factorPlaces);
  const tokens = compileTokenRates(price, inputTokens);
  const rates = {
    tokens,
    promptTiers: tokens === null ? [] : compilePromptTiers(price, tokens),
    inputTokens,
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
  const { tokens, promptTiers, inputTokens, imageTiers, referenceImage } = rates;
  const { videoSecond, videoTokens, fees } = rates;
  const parts = [
    ...(inputTokens === null ? [] : [inputTokens.dearestInput]),
    ...(tokens === null ? [] : [tokens.dearestOutput]),
    ...promptTiers.flatMap((tier) => [tier.dearestInput, tier.output]),
    ...imageTiers.flatMap(({ image, layer }) => (layer === null ? [image] : [image, layer])),
    ...(referenceImage === null ? [] : [referenceImage]),
    ...videoSecond.values(),
    ...videoTokens.values().flatMap(({ text, withVideo }) => [text, withVideo]),
    ...fees.values(),
  ];
  return parts.length > 0 && parts.every(({ perUnit }) => perUnit === 0n);
}

/** A part that a tier does not name costs what it costs without tiers. */
function compilePromptTiers(price: DeclaredPrice, base: TokenRates): PromptTierRates[] {
  let { dearestInput, output } = base;
  return (price.tiers ?? []).map(({ above, ...parts }) => {
    const before = `tiers.${above}.`;
    const whole = { ...price, ...parts };
    const tokens = compileTokenRates(whole, compileInputRates(whole, before), before);
    if (tokens === null) throw new RangeError('a tier without input or output');
    dearestInput = dearestOf([dearestInput, tokens.dearestInput]);
    output = dearestOf([output, tokens.output]);
    return { above, tokens, dearestInput, output };
  });
}

/** Null unless input is priced. Every other part falls back as the configuration contract states. */
function compileInputRates(price: DeclaredPrice, before = ''): InputRates | null {
  if (price.input === undefined) return null;
  const cacheWrite = price.cacheWrite ?? price.input;
  const inputs = {
    input: perMillion(`${before}input`, price.input),
    inputImage: perMillion(`${before}input_image`, price.inputImage ?? price.input),
    cacheRead: perMillion(`${before}cache_read`, price.cacheRead ?? price.input),
    cacheWrite: perMillion(`${before}cache_write`, cacheWrite),
    cacheWrite1h: perMillion(`${before}cache_write_1h`, price.cacheWrite1h ?? cacheWrite),
  };
  return { ...inputs, dearestInput: dearestOf(Object.values(inputs)) };
}

/** Null unless both ends are priced. */
function compileTokenRates(
  { output, outputImage }: DeclaredPrice,
  inputTokens: InputRates | null,
  before = '',
): TokenRates | null {
  if (inputTokens === null || output === undefined) return null;
  const outputs = {
    output: perMillion(`${before}output`, output),
    outputImage: perMillion(`${before}output_image`, outputImage ?? output),
  };
  return { ...inputTokens, ...outputs, dearestOutput: dearestOf(Object.values(outputs)) };
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

/** The dearest parts that a prompt of at most this many tokens can be charged by. Null: the price has none. */
export function dearestRatesFor(
  { tokens, promptTiers }: PriceRates,
  longest: number | bigint,
): { readonly dearestInput: Rate; readonly output: Rate } | null {
  return promptTiers.findLast(({ above }) => longest > above) ?? tokens;
}

/** The highest of some rates; the first of equal ones. */
export const dearestOf = (rates: readonly Rate[]): Rate =>
  rates.reduce((dearest, each) => (each.perUnit > dearest.perUnit ? each : dearest));

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
