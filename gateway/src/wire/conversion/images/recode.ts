import { setImmediate } from 'node:timers/promises';
import type { ImageSource, Image, ImageResponse } from '#canonical/index.ts';
import { imageSize } from '#estimation/index.ts';

/** A multiple of three bytes, and of four characters: pieces of it join without padding between them. */
const pieceBytes = 3 * 128 * 1024;
const pieceCharacters = (pieceBytes / 3) * 4;

/**
 * An image in Base64. Piece by piece, each in a turn of its own: an image is neither a string as a whole, nor does it
 * hold up other requests.
 */
export async function inBase64(source: ImageSource): Promise<ImageSource> {
  if (source.kind !== 'bytes') return source;
  const { mime, bytes } = source;
  const base64 = Buffer.allocUnsafe(Math.ceil(bytes.length / 3) * 4);
  let to = 0;
  for (let from = 0; from < bytes.length; from += pieceBytes) {
    if (from > 0) await setImmediate();
    to += base64.write(bytes.toString('base64', from, from + pieceBytes), to, 'latin1');
  }
  return { kind: 'base64', mime, base64 };
}

/** An image as bytes, in the same way. */
export async function inBytes(source: ImageSource): Promise<ImageSource> {
  if (source.kind !== 'base64') return source;
  const { mime, base64 } = source;
  const bytes = Buffer.allocUnsafe(Math.ceil((base64.length * 3) / 4));
  let to = 0;
  for (let from = 0; from < base64.length; from += pieceCharacters) {
    if (from > 0) await setImmediate();
    to += bytes.write(base64.toString('latin1', from, from + pieceCharacters), to, 'base64');
  }
  return { kind: 'bytes', mime: mime ?? 'image/png', bytes: bytes.subarray(0, to) };
}

/** Characters of Base64 in which the header of an image with its size is, metadata before it included. */
const headLength = 256 * 1024;

/** The response with its images in Base64, each with the size that is in the image itself. */
export async function inspectImages(response: ImageResponse): Promise<ImageResponse> {
  const images: Image[] = [];
  for (const image of response.images) {
    const source = await inBase64(image.source);
    const size = source.kind === 'base64' ? sizeIn(source.base64) : null;
    images.push({ ...image, source, size: size ?? image.size });
  }
  return { ...response, images };
}

function sizeIn(base64: Buffer): string | null {
  const size = imageSize(base64.toString('latin1', 0, headLength));
  return size === null ? null : `${size.width}x${size.height}`;
}
