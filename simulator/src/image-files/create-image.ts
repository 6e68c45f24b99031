import { jpegOf } from './jpeg.ts';
import { pngOf } from './png.ts';
import { longestSide, type Colour, type ImageSpec } from './order.ts';
import { webpOf } from './webp.ts';

/** A valid picture of exactly the size that is ordered. @throws RangeError for an impossible size */
export function createImage(order: ImageSpec): Buffer {
  for (const side of [order.width, order.height]) {
    if (Number.isInteger(side) && side >= 1 && side <= longestSide) continue;
    throw new RangeError(`A picture has sides of 1 to ${longestSide} pixels.`);
  }
  const encode = { png: pngOf, jpeg: jpegOf, webp: webpOf }[order.type];
  return encode(order, colourOf(order.seed ?? 0));
}

/** Well apart for neighbouring seeds, never black or white. */
function colourOf(seed: number): Colour {
  return [32 + ((seed * 97) % 192), 32 + ((seed * 57 + 64) % 192), 32 + ((seed * 31 + 128) % 192)];
}

/** Base64 texts are kept for the next equal order: tests of load ask for large pictures by the hundred. */
const kept = new Map<string, string>();
const mostKept = 64 * 2 ** 20;

export function imageInBase64(order: ImageSpec): string {
  const key = Object.values({ ...order, seed: order.seed ?? 0 }).join('/');
  const known = kept.get(key);
  if (known !== undefined) return known;
  const text = createImage(order).toString('base64');
  let length = text.length;
  for (const entry of kept.values()) length += entry.length;
  if (length > mostKept) kept.clear();
  if (text.length <= mostKept) kept.set(key, text);
  return text;
}
