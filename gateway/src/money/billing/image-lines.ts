import type { Line } from './cost.ts';
import type { PriceRates, TierRates } from './rates.ts';

/** One picture of an answer. */
export interface ReturnedImage {
  /** As the upstream says, `<width>x<height>`; null when neither it nor the file itself says. */
  readonly size: string | null;
  /** A layer of a decomposed picture, which costs a share of a whole one. */
  readonly isLayer: boolean;
}

/** Why pictures cannot be charged. Nothing is then: no price is guessed. */
export interface Unbillable {
  readonly unbillable: 'size_missing' | 'size_above_tiers' | 'resolution_unpriced';
  /** The part of the answer or of the price that is at fault, for the operator. */
  readonly detail: string;
}

/**
 * Pictures priced by tier: each by the first tier that its own returned size fits into. Of the reference images
 * sent along the first is free.
 */
export function imageLines(
  rates: PriceRates,
  images: readonly ReturnedImage[],
  referenceImages: number,
): Line[] | Unbillable {
  const quantities = new Map<Line['rate'], number>();
  for (const [index, { size, isLayer }] of images.entries()) {
    const pixels = size === null ? null : pixelsOf(size);
    if (pixels === null) return { unbillable: 'size_missing', detail: `image ${index}` };
    const tier = tierOf(rates.imageTiers, pixels);
    if (tier === null) {
      return { unbillable: 'size_above_tiers', detail: `image ${index}: ${pixels} pixels` };
    }
    const rate = isLayer ? tier.layer : tier.image;
    quantities.set(rate, (quantities.get(rate) ?? 0) + 1);
  }
  if (referenceImages > 1) quantities.set(rates.referenceImage, referenceImages - 1);
  return Array.from(quantities, ([rate, quantity]) => ({ rate, quantity }));
}

function tierOf(tiers: readonly TierRates[], pixels: number): TierRates | null {
  return tiers.find(({ maxPixels }) => maxPixels >= pixels) ?? null;
}

/** `1024x1536` → its pixels; null for anything that does not name two whole numbers above zero. */
function pixelsOf(size: string): number | null {
  const match = /^([1-9]\d{0,8})[x*×]([1-9]\d{0,8})$/i.exec(size.trim());
  return match === null ? null : Number(match[1]) * Number(match[2]);
}
