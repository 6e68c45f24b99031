import type { PictureSource } from '#canonical/index.ts';
import { LongText } from '#json/index.ts';
import { refuseValue } from './request-values.ts';

/** In bytes. A prompt is never as long; what is longer would have to become a string. */
export const longestPrompt = 1024 * 1024;

/** In bytes. The text before the data of a data URI, or an address. */
const longestAddress = 8 * 1024;

/** Base64 of the marks by which pictures are known. */
const headLength = 24;

const backslash = 0x5c;

/**
 * A text of a body that was read with its long texts apart. Null for any other value.
 * @throws GatewayError `invalid_value` for a text above 1 MiB
 */
export function readText(value: unknown, param: string): string | null {
  if (typeof value === 'string') return value;
  if (!(value instanceof LongText)) return null;
  const bytes = bytesOf(value);
  if (bytes.length > longestPrompt) refuseValue(param, 'is too long');
  return JSON.parse(`"${bytes.toString('utf8')}"`) as string;
}

/**
 * A picture that a text names or is: an http(s) URL, a data URI, or bare Base64.
 * @throws GatewayError `invalid_value` for any other value
 */
export function readPicture(value: unknown, param: string): PictureSource {
  const bytes = textBytes(value);
  if (bytes === null || bytes.length === 0) return refusePicture(param);
  const head = bytes.toString('latin1', 0, longestAddress).replaceAll('\\/', '/');
  if (/^https?:\/\//i.test(head)) {
    if (bytes.length > longestAddress) refuseValue(param, 'is too long');
    return { kind: 'url', url: readText(value, param) ?? head };
  }
  if (!/^data:/i.test(head)) {
    const base64 = standardBase64(bytes);
    const mime = mimeOf(base64);
    return mime === null ? refusePicture(param) : { kind: 'base64', mime, base64 };
  }
  const comma = bytes.indexOf(',');
  const declared = /^data:([^;,]*)(?:;[^,]*)?;base64,/i.exec(head);
  if (comma < 0 || declared === null) return refusePicture(param);
  return pictureOf(bytes.subarray(comma + 1), declared[1] ?? '', param);
}

/**
 * A picture in Base64 as it stands in the JSON of a body. Its own first bytes say what it is; the declared type counts
 * if they do not.
 * @throws GatewayError `invalid_value` if neither is a picture
 */
export function pictureOf(written: Buffer, declared: string, param: string): PictureSource {
  const base64 = standardBase64(written);
  const named = declared.trim().toLowerCase();
  const mime = mimeOf(base64) ?? (/^image\/[\w.+-]+$/.test(named) ? named : null);
  if (mime === null || base64.length === 0) return refusePicture(param);
  return { kind: 'base64', mime, base64 };
}

/** The bytes between the quotes. Null if the value is no text. */
export function textBytes(value: unknown): Buffer | null {
  if (typeof value === 'string') return Buffer.from(value);
  return value instanceof LongText ? bytesOf(value) : null;
}

/** The media type of a picture by its first bytes; null if it is of no known kind. */
export function mimeOf(base64: Buffer): string | null {
  const head = Buffer.from(base64.toString('latin1', 0, headLength), 'base64');
  const text = head.toString('latin1');
  if (text.startsWith('\x89PNG\r\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'image/webp';
  if (text.startsWith('GIF8')) return 'image/gif';
  return null;
}

/** The type of a picture as images name it: `jpeg`. */
export function formatOf(mime: string): string {
  return mime.slice(mime.indexOf('/') + 1);
}

/**
 * Base64 of the URL alphabet, or with slashes that JSON escapes, in the standard alphabet and without escapes. The same
 * buffer in the usual case.
 */
function standardBase64(written: Buffer): Buffer {
  if (!written.includes(backslash) && !written.includes('-') && !written.includes('_')) {
    return written;
  }
  const result = Buffer.allocUnsafe(written.length);
  let length = 0;
  for (const byte of written) {
    if (byte === backslash) continue;
    result[length] = byte === 0x2d ? 0x2b : byte === 0x5f ? 0x2f : byte;
    length += 1;
  }
  return result.subarray(0, length);
}

function bytesOf({ pieces }: LongText): Buffer {
  const [piece] = pieces;
  return typeof piece === 'string' || piece === undefined ? Buffer.from(piece ?? '') : piece;
}

function refusePicture(param: string): never {
  return refuseValue(
    param,
    'must be an http(s) URL, a data URI of a picture, or a picture in Base64',
  );
}
