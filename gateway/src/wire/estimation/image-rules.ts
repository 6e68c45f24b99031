import type { ImageSize } from './image-size.ts';

/** What a provider charges for an image. */
export interface ImageRule {
  /** Tokens of an image of this size. */
  readonly of: (size: ImageSize, detail: string | undefined) => number;
  /** The maximum for any image. */
  readonly most: number;
}

/** The assumed size of an image that is given only by URL. */
export const usualSize: ImageSize = Object.freeze({ width: 1024, height: 1024 });

/**
 * Messages, "Vision" page: a token per 750 pixels, after the image was scaled to fit.
 * @param edge limit of the longer side
 * @param most maximum tokens of one image
 */
export function byArea(edge: number, most: number): ImageRule {
  const of: ImageRule['of'] = (size) => {
    const { width, height } = fit(size, edge, edge);
    return Math.min(most, Math.ceil((width * height) / 750));
  };
  return { of, most };
}

/**
 * OpenAI's "Images and vision", for its older models: fit into 2048 × 2048, scale the shorter side down to 768, then a
 * fixed number per tile of 512 × 512.
 */
export function byTiles(base: number, tile: number): ImageRule {
  const of: ImageRule['of'] = (size, detail) => {
    if (detail === 'low') return base;
    const { width, height } = fit(size, 2048, 768);
    return base + tile * Math.ceil(width / 512) * Math.ceil(height / 512);
  };
  return { of, most: base + tile * 4 * 2 };
}

/** The same page, for its newer models: squares of 32 × 32 up to a maximum, each times the model's factor. */
export function byPatches(most: number, factor: number): ImageRule {
  return {
    of: ({ width, height }) =>
      Math.ceil(Math.min(most, Math.ceil(width / 32) * Math.ceil(height / 32)) * factor),
    most: Math.ceil(most * factor),
  };
}

/**
 * Gemini's "Understand and count tokens", 2.0 to 2.5: a small image is one unit of 258; other images are split into
 * tiles of 768, after scaling to fit 3072 × 3072.
 */
export const byCrops: ImageRule = Object.freeze<ImageRule>({
  of(size) {
    if (size.width <= 384 && size.height <= 384) return 258;
    const { width, height } = fit(size, 3072, 3072);
    return 258 * Math.ceil(width / 768) * Math.ceil(height / 768);
  },
  most: 258 * 4 * 4,
});

/** Scales down, never up, so that neither side exceeds its limit. */
function fit({ width, height }: ImageSize, longer: number, shorter: number): ImageSize {
  const long = Math.max(width, height);
  const short = Math.min(width, height);
  const scale = Math.min(1, longer / long, shorter / short);
  // Providers use whole pixels, at least one: half a pixel must not create another tile.
  const scaledSide = (side: number) => Math.max(1, Math.round(side * scale));
  return { width: scaledSide(width), height: scaledSide(height) };
}
