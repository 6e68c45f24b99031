import type { ImageSource } from '#canonical/index.ts';
import { LongText } from '#json/index.ts';
import { isBase64 } from './data-url.ts';
import { isPublicUrl } from './public-address.ts';
import { refuseValue } from '../text/request-values.ts';

/** In bytes. A prompt is never as long; what is longer would have to become a string. */
export const longestPrompt = 1024 * 1024;

/** In bytes. The text before the data of a data URI, or an address. */
const longestAddress = 8 * 1024;

/** Base64 of the marks by which images are known. */
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
 * An image that a text names or is: an http(s) URL, a data URI, or bare Base64.
 * @throws GatewayError `invalid_value` for any other value
 */
export function readImage(value: unknown, param: string): ImageSource {
  const head = headOf(value);
  if (/^https?:\/\//i.test(head)) {
    const url = readText(value, param) ?? '';
    if (url.length > longestAddress) refuseValue(param, 'is too long');
    return { kind: 'url', url };
  }
  if (!/^data:/i.test(head)) {
    const base64 = readBase64(value, 0, param);
    const mime = mimeOf(base64);
    return mime === null ? refuseImage(param) : { kind: 'base64', mime, base64 };
  }
  const declared = /^data:([^;,]*)(?:;[^,]*)?;base64,/i.exec(head);
  if (declared === null) return refuseImage(param);
  // A slash of the type may be escaped: the comma is at the same place only in the text itself.
  const start = value instanceof LongText ? bytesOf(value).indexOf(',') + 1 : declared[0].length;
  return typed(readBase64(value, start, param), declared[1] ?? '', param);
}

/**
 * An image in Base64. Its own first bytes say what it is; the declared type counts if they do not.
 * @throws GatewayError `invalid_value` if it is not Base64, or neither says that it is an image
 */
export function readInlineImage(value: unknown, declared: string, param: string): ImageSource {
  return typed(readBase64(value, 0, param), declared, param);
}

/**
 * The same for an image of a request, which an upstream, or this gateway, may have to fetch.
 * @throws GatewayError `invalid_value` also for an address that is not public
 */
export function readSource(value: unknown, param: string): ImageSource {
  const source = readImage(value, param);
  if (source.kind === 'url' && !isPublicUrl(source.url)) return refuseImage(param);
  return source;
}

function typed(base64: Buffer, declared: string, param: string): ImageSource {
  const declaredType = declared.trim().toLowerCase();
  const mime = mimeOf(base64) ?? (/^image\/[\w.+-]+$/.test(declaredType) ? declaredType : null);
  if (mime === null || base64.length === 0) return refuseImage(param);
  return { kind: 'base64', mime, base64 };
}

/** The beginning of a text, without escapes of slashes. */
export function headOf(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, longestAddress);
  if (!(value instanceof LongText)) return '';
  return bytesOf(value).toString('latin1', 0, longestAddress).replaceAll('\\/', '/');
}

/** The media type of an image by its first bytes; null if it is of no known kind. */
export function mimeOf(base64: Buffer): string | null {
  const head = Buffer.from(base64.toString('latin1', 0, headLength), 'base64');
  const text = head.toString('latin1');
  if (text.startsWith('\x89PNG\r\n')) return 'image/png';
  if (text.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'image/webp';
  if (text.startsWith('GIF8')) return 'image/gif';
  return null;
}

/** The type of an image as images name it: `jpeg`. */
export function formatOf(mime: string): string {
  return mime.slice(mime.indexOf('/') + 1);
}

/**
 * Base64 in the standard alphabet, safe to stand in JSON: a slice of the body in the usual case.
 * @param start where it begins in the text
 * @throws GatewayError `invalid_value` for a text that is not Base64
 */
function readBase64(value: unknown, start: number, param: string): Buffer {
  if (value instanceof LongText) {
    const writtenBytes = bytesOf(value).subarray(start);
    const isPlain = ![backslash, '-', '_'].some((mark) => writtenBytes.includes(mark));
    return (isPlain ? writtenBytes : unescaped(writtenBytes)) ?? refuseImage(param);
  }
  if (typeof value !== 'string') return refuseImage(param);
  const text = value.slice(start).replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  return isBase64(text) ? Buffer.from(text, 'latin1') : refuseImage(param);
}

/** Escapes that occur in Base64: of the slash, and of line breaks, which mean nothing. */
const escapes: Readonly<Record<string, string>> = { '/': '/', n: '', r: '', t: '' };
const isLetter = /^[A-Za-z0-9+/=]$/;

/** By byte, what stands for it: one of the standard alphabet, or 0 for what is not Base64. */
const alphabet = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte === 0x2d) return 0x2b;
  if (byte === 0x5f) return 0x2f;
  return isLetter.test(String.fromCharCode(byte)) ? byte : 0;
});

/** Base64 of the URL alphabet or with escapes. Null if it is not Base64. */
function unescaped(writtenText: Buffer): Buffer | null {
  const result = Buffer.allocUnsafe(writtenText.length);
  let length = 0;
  for (let at = 0; at < writtenText.length; at += 1) {
    let byte = writtenText[at]!;
    if (byte === backslash) {
      at += 1;
      const meant = escapes[String.fromCharCode(writtenText[at] ?? 0)];
      if (meant === undefined) return null;
      if (meant === '') continue;
      byte = meant.charCodeAt(0);
    }
    const letter = alphabet[byte]!;
    if (letter === 0) return null;
    result[length] = letter;
    length += 1;
  }
  return result.subarray(0, length);
}

function bytesOf({ pieces }: LongText): Buffer {
  const [piece] = pieces;
  return typeof piece === 'string' || piece === undefined ? Buffer.from(piece ?? '') : piece;
}

function refuseImage(param: string): never {
  return refuseValue(
    param,
    'must be a public http(s) URL, a data URI of a picture, or a picture in Base64',
  );
}
