import { setImmediate } from 'node:timers/promises';
import type { PictureSource, Picture, PictureResponse } from '#canonical/index.ts';
import { imageSize } from '#estimation/index.ts';

/** A multiple of three bytes, and of four characters: pieces of it join without padding between them. */
const pieceBytes = 3 * 128 * 1024;
const pieceCharacters = (pieceBytes / 3) * 4;

/**
 * A picture in Base64. Piece by piece, each in a turn of its own: a picture is neither a string as a whole, nor does it
 * hold up other requests.
 */
export async function inBase64(source: PictureSource): Promise<PictureSource> {
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

/** A picture as bytes, in the same way. */
export async function inBytes(source: PictureSource): Promise<PictureSource> {
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

/** Characters of Base64 in which the header of a picture with its size is, metadata before it included. */
const headLength = 256 * 1024;

/** The response with its pictures in Base64, each with the size that is in the picture itself. */
export async function measurePictures(response: PictureResponse): Promise<PictureResponse> {
  const pictures: Picture[] = [];
  for (const picture of response.pictures) {
    const source = await inBase64(picture.source);
    const size = source.kind === 'base64' ? sizeIn(source.base64) : null;
    pictures.push({ ...picture, source, size: size ?? picture.size });
  }
  return { ...response, pictures };
}

function sizeIn(base64: Buffer): string | null {
  const size = imageSize(base64.toString('latin1', 0, headLength));
  return size === null ? null : `${size.width}x${size.height}`;
}
