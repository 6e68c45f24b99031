import type { CostLine } from './cost.ts';
import type { PriceRates, TierRates } from './rates.ts';

/** One image of a response. */
export interface ReturnedImage {
  /** As the upstream reports it, `<width>x<height>`; null if neither it nor the file itself contains it. */
  readonly size: string | null;
  /** A layer of a decomposed image, which costs a share of a whole one. */
  readonly isLayer: boolean;
}

/** Why images cannot be charged. Then nothing is charged: no price is guessed. */
export interface Unbillable {
  readonly unbillable: 'size_missing' | 'size_above_tiers';
  /** The faulty part of the response or the price, for the operator. */
  readonly detail: string;
}

/**
 * Tier-priced images: each by the first tier that its own returned size fits. The first reference image is free.
 * @throws RangeError for a price that lacks a part which the request needs (`unpricedPart`): it is refused before.
 */
export function imageLines(
  rates: PriceRates,
  images: readonly ReturnedImage[],
  referenceImages: number,
): CostLine[] | Unbillable {
  const quantities = new Map<CostLine['rate'], number>();
  for (const [index, { size, isLayer }] of images.entries()) {
    const pixels = size === null ? null : pixelsOf(size);
    if (pixels === null) return { unbillable: 'size_missing', detail: `image ${index}` };
    const tier = tierOf(rates.imageTiers, pixels);
    if (tier === null) {
      return { unbillable: 'size_above_tiers', detail: `image ${index}: ${pixels} pixels` };
    }
    const rate = isLayer ? tier.layer : tier.image;
    if (rate === null) throw new RangeError('no price for layers');
    quantities.set(rate, (quantities.get(rate) ?? 0) + 1);
  }
  if (referenceImages > 1) {
    const { referenceImage } = rates;
    if (referenceImage === null) throw new RangeError('no price for reference images');
    quantities.set(referenceImage, referenceImages - 1);
  }
  return Array.from(quantities, ([rate, quantity]) => ({ rate, quantity }));
}

/**
 * The pixels of the largest tier, if an image of the size that a client asks for is above it; null: it is not, or the
 * price has no tiers or is 0. A class (`2K`) is compared by the fewest pixels that models draw for it.
 */
export function exceededTier(rates: PriceRates, size: string): number | null {
  const largest = rates.imageTiers.at(-1)?.maxPixels;
  if (largest === undefined || rates.isZero) return null;
  const sizeClass = /^(\d(?:\.\d)?)K$/.exec(size);
  const pixels = sizeClass === null ? pixelsOf(size) : fewestOfClass * Number(sizeClass[1]) ** 2;
  return pixels !== null && pixels > largest ? largest : null;
}

/** Of `1K`. Models draw 2 048 × 1 152 for `2K` if it is wide. */
const fewestOfClass = 500_000;

function tierOf(tiers: readonly TierRates[], pixels: number): TierRates | null {
  return tiers.find(({ maxPixels }) => maxPixels >= pixels) ?? null;
}

/** The pixels of `1024x1536`; null unless the text has two whole numbers above zero. */
function pixelsOf(size: string): number | null {
  const match = /^([1-9]\d{0,8})[x*×]([1-9]\d{0,8})$/i.exec(size.trim());
  return match === null ? null : Number(match[1]) * Number(match[2]);
}
