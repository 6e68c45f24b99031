import type { ImageSize } from './image-size.ts';

/** What providers charge for an image of so many pixels. */
export type ImageRule = (size: ImageSize, detail: string | undefined) => number;

/** An image whose size cannot be known here, because only its address is. */
export const usualSize: ImageSize = Object.freeze({ width: 1024, height: 1024 });

/**
 * Messages, its "Vision" page: a token for 750 pixels, after the image was made to fit.
 * @param edge what the longer side may be
 * @param most tokens of one image
 */
export function byArea(edge: number, most: number): ImageRule {
  return (size) => {
    const { width, height } = fit(size, edge, edge);
    return Math.min(most, Math.ceil((width * height) / 750));
  };
}

/**
 * OpenAI's "Images and vision", for its older models: fit into 2048 × 2048, the shorter side scaled down to 768, then
 * so much for each tile of 512 × 512.
 */
export function byTiles(base: number, tile: number): ImageRule {
  return (size, detail) => {
    if (detail === 'low') return base;
    const { width, height } = fit(size, 2048, 768);
    return base + tile * Math.ceil(width / 512) * Math.ceil(height / 512);
  };
}

/** The same page, for its newer models: squares of 32 × 32, at most so many, each times the model's factor. */
export function byPatches(most: number, factor: number): ImageRule {
  return ({ width, height }) =>
    Math.ceil(Math.min(most, Math.ceil(width / 32) * Math.ceil(height / 32)) * factor);
}

/** Gemini's "Understand and count tokens", 2.0 to 2.5: small images are one unit of 258, others tiles of 768. */
export const byCrops: ImageRule = ({ width, height }) =>
  width <= 384 && height <= 384 ? 258 : 258 * Math.ceil(width / 768) * Math.ceil(height / 768);

/** Scaled down, never up, so that neither side is beyond its bound. */
function fit({ width, height }: ImageSize, longer: number, shorter: number): ImageSize {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  const scale = Math.min(1, longer / long, shorter / short);
  // Providers have whole pixels, and at least one: half a one must not make another tile.
  const scaled = (side: number) => Math.max(1, Math.round(side * scale));
  return { width: scaled(width), height: scaled(height) };
}
