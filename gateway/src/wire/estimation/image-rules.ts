import type { ImageSize } from './image-size.ts';

/** What providers charge for an image. */
export interface ImageRule {
  /** In tokens, for one of so many pixels. */
  readonly of: (size: ImageSize, detail: string | undefined) => number;
  /** No image takes more. */
  readonly most: number;
}

/** An image whose size cannot be known here, because only its address is. */
export const usualSize: ImageSize = Object.freeze({ width: 1024, height: 1024 });

/**
 * Messages, its "Vision" page: a token for 750 pixels, after the image was made to fit.
 * @param edge what the longer side may be
 * @param most tokens of one image
 */
export function byArea(edge: number, most: number): ImageRule {
  const of: ImageRule['of'] = (size) => {
    const { width, height } = fit(size, edge, edge);
    return Math.min(most, Math.ceil((width * height) / 750));
  };
  return { of, most };
}

/**
 * OpenAI's "Images and vision", for its older models: fit into 2048 × 2048, the shorter side scaled down to 768, then
 * so much for each tile of 512 × 512.
 */
export function byTiles(base: number, tile: number): ImageRule {
  const of: ImageRule['of'] = (size, detail) => {
    if (detail === 'low') return base;
    const { width, height } = fit(size, 2048, 768);
    return base + tile * Math.ceil(width / 512) * Math.ceil(height / 512);
  };
  return { of, most: base + tile * 4 * 2 };
}

/** The same page, for its newer models: squares of 32 × 32, at most so many, each times the model's factor. */
export function byPatches(most: number, factor: number): ImageRule {
  return {
    of: ({ width, height }) =>
      Math.ceil(Math.min(most, Math.ceil(width / 32) * Math.ceil(height / 32)) * factor),
    most: Math.ceil(most * factor),
  };
}

/**
 * Gemini's "Understand and count tokens", 2.0 to 2.5: small images are one unit of 258, others tiles of 768, after
 * the image was made to fit into 3072 × 3072.
 */
export const byCrops: ImageRule = Object.freeze<ImageRule>({
  of(size) {
    if (size.width <= 384 && size.height <= 384) return 258;
    const { width, height } = fit(size, 3072, 3072);
    return 258 * Math.ceil(width / 768) * Math.ceil(height / 768);
  },
  most: 258 * 4 * 4,
});

/** Scaled down, never up, so that neither side is beyond its bound. */
function fit({ width, height }: ImageSize, longer: number, shorter: number): ImageSize {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  const scale = Math.min(1, longer / long, shorter / short);
  // Providers have whole pixels, and at least one: half a one must not make another tile.
  const scaled = (side: number) => Math.max(1, Math.round(side * scale));
  return { width: scaled(width), height: scaled(height) };
}
