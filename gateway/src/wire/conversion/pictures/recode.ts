import { setImmediate } from 'node:timers/promises';
import type { PictureSource } from '#canonical/index.ts';

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
