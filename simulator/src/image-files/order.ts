export type ImageType = 'png' | 'jpeg' | 'webp';

export interface ImageSpec {
  readonly type: ImageType;
  readonly width: number;
  readonly height: number;
  /** 0 to 255: equal orders with equal seeds are equal pictures. Default 0. */
  readonly seed?: number;
  /** With transparent pixels. Default false; a JPEG has none. */
  readonly transparent?: boolean;
  /** The size of the file, if it is above what the picture needs. A WebP may have one byte more. */
  readonly bytes?: number;
}

/** The largest side of a WebP, and of every picture here. */
export const longestSide = 16_384;

export type Colour = readonly [red: number, green: number, blue: number];
