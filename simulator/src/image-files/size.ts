import type { Dimensions } from '../scenario/scenario.ts';
import { longestSide } from './order.ts';

/** Reads `<width>x<height>`. Null for anything else and for sides that no picture here has. */
export function parseSize(text: string): Dimensions | null {
  const match = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(text);
  const [width, height] = [Number(match?.[1]), Number(match?.[2])];
  return match && width <= longestSide && height <= longestSide ? { width, height } : null;
}

export function formatSize({ width, height }: Dimensions): string {
  return `${width}x${height}`;
}

/** The sizes that have a name: the side of a square. */
export const namedSizes: Readonly<Record<string, number>> = {
  '1K': 1024,
  '1.5K': 1536,
  '2K': 2048,
  '3K': 3072,
  '4K': 4096,
};

/** Reads a size or its name; null for `auto` and anything else. */
export function readSize(text: string): Dimensions | null {
  const side = namedSizes[text];
  return side === undefined ? parseSize(text) : { width: side, height: side };
}
