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
  const rates = {
    tokens: compileTokenRates(price, inputTokens),
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
  const { tokens, inputTokens, imageTiers, referenceImage, videoSecond, videoTokens, fees } = rates;
  const parts = [
    ...(inputTokens === null ? [] : [inputTokens.dearestInput]),
    ...(tokens === null ? [] : [tokens.dearestOutput]),
    ...imageTiers.flatMap(({ image, layer }) => (layer === null ? [image] : [image, layer])),
    ...(referenceImage === null ? [] : [referenceImage]),
    ...videoSecond.values(),
    ...videoTokens.values().flatMap(({ text, withVideo }) => [text, withVideo]),
    ...fees.values(),
  ];
  return parts.length > 0 && parts.every(({ perUnit }) => perUnit === 0n);
}

/** Null unless input is priced. Every other part falls back as the configuration contract states. */
function compileInputRates(price: DeclaredPrice): InputRates | null {
  if (price.input === undefined) return null;
  const cacheWrite = price.cacheWrite ?? price.input;
  const inputs = {
    input: perMillion('input', price.input),
    inputImage: perMillion('input_image', price.inputImage ?? price.input),
    cacheRead: perMillion('cache_read', price.cacheRead ?? price.input),
    cacheWrite: perMillion('cache_write', cacheWrite),
    cacheWrite1h: perMillion('cache_write_1h', price.cacheWrite1h ?? cacheWrite),
  };
  return { ...inputs, dearestInput: dearestOf(Object.values(inputs)) };
}

/** Null unless both ends are priced. */
function compileTokenRates(
  { output, outputImage }: DeclaredPrice,
  inputTokens: InputRates | null,
): TokenRates | null {
  if (inputTokens === null || output === undefined) return null;
  const outputs = {
    output: perMillion('output', output),
    outputImage: perMillion('output_image', outputImage ?? output),
  };
  return { ...inputTokens, ...outputs, dearestOutput: dearestOf(Object.values(outputs)) };
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
