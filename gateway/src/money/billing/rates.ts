import type { Decimal, DeclaredPrice } from '#config/index.ts';
import { scaled } from '#config/decimal.ts';

/** One part of a price, ready to multiply. */
export interface Rate {
  /** As configuration writes it: `input`, `cache_read`, `image_tiers.2K`, `video_second.720P`. */
  readonly part: string;
  /** 10⁻¹⁵ USD per unit: a token, an image, a second. */
  readonly perUnit: bigint;
  /** The same in decimal digits, for receipts. */
  readonly text: string;
  /** Quantities of it are thousandths of the unit: milliseconds of a price per second. */
  readonly inThousandths: boolean;
}

export interface TokenRates {
  readonly input: Rate;
  readonly inputImage: Rate;
  readonly cacheRead: Rate;
  readonly cacheWrite: Rate;
  readonly cacheWrite1h: Rate;
  readonly output: Rate;
  /** The highest of the parts an input token can fall into. */
  readonly dearestInput: Rate;
}

export interface TierRates {
  readonly name: string;
  readonly maxPixels: number;
  readonly image: Rate;
  readonly layer: Rate;
}

/** A price with its defaults filled in, as integers. What a kind of model does not have is null or empty. */
export interface PriceRates {
  readonly tokens: TokenRates | null;
  /** Ascending. */
  readonly imageTiers: readonly TierRates[];
  readonly referenceImage: Rate;
  readonly videoSecond: ReadonlyMap<string, Rate>;
  readonly videoTokens: ReadonlyMap<string, { readonly text: Rate; readonly withVideo: Rate }>;
  /** By the name of a surcharge, in millionths: what token rates are multiplied by where an answer reports it. */
  readonly multipliers: ReadonlyMap<string, bigint>;
  /** Per use, by its name. */
  readonly fees: ReadonlyMap<string, Rate>;
}

/** A rate is kept in 10⁻¹⁵ USD: nine decimals of a price per million units, all fifteen of one per unit. */
const perMillionPlaces = 9;
const perUnitPlaces = 15;
const factorPlaces = 9;
const multiplierPlaces = 6;
/** Of the price of an image: what the interface promises for layers. */
const defaultLayerFactor = '0.5';

const known = new WeakMap<DeclaredPrice, PriceRates>();

/**
 * The rates of a price. Worked out once per price object, which a snapshot of the catalogue shares among requests.
 * @throws RangeError for a price with digits beyond 10⁻¹⁵ USD per unit, which the catalogue does not let through.
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
  const {
    imageTiers = [],
    videoSecond = {},
    videoTokens = {},
    multipliers = {},
    fees = {},
  } = price;
  const factor = exact(price.layerFactor ?? defaultLayerFactor, factorPlaces);
  return Object.freeze({
    tokens: compileTokenRates(price),
    imageTiers: imageTiers.map(({ name, maxPixels, price: perImage }) => {
      const image = exact(perImage, perUnitPlaces);
      return {
        name,
        maxPixels,
        image: rate(`image_tiers.${name}`, image),
        layer: rate(`layer_factor.${name}`, divideHalfEven(image * factor, 10n ** 9n)),
      };
    }),
    referenceImage: perUnit('reference_image', price.referenceImage ?? '0'),
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
  });
}

/** Null unless both ends are priced. Every other part falls back as the configuration contract says. */
function compileTokenRates(price: DeclaredPrice): TokenRates | null {
  if (price.input === undefined || price.output === undefined) return null;
  const cacheWrite = price.cacheWrite ?? price.input;
  const inputs = {
    input: perMillion('input', price.input),
    inputImage: perMillion('input_image', price.inputImage ?? price.input),
    cacheRead: perMillion('cache_read', price.cacheRead ?? price.input),
    cacheWrite: perMillion('cache_write', cacheWrite),
    cacheWrite1h: perMillion('cache_write_1h', price.cacheWrite1h ?? cacheWrite),
  };
  const dearestInput = Object.values(inputs).reduce((dearest, each) =>
    each.perUnit > dearest.perUnit ? each : dearest,
  );
  return { ...inputs, output: perMillion('output', price.output), dearestInput };
}

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
