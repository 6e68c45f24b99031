import { undressed } from './media-type.ts';

/** Base64 in its standard form. */
export interface ReadBase64 {
  readonly base64: string;
  /** It was written in another form: in lines, in the alphabet of addresses, as a data URL in its place. */
  readonly repaired?: true;
}

const percent = '%'.charCodeAt(0);
/** The longest text before the comma: a type and its parameters, which may include a file's name. */
const mostDeclared = 4096;
const base64Mark = ';base64';

/**
 * The parts of a data URL (RFC 2397), with percent-encoded data turned into base64. Null if the text is not a data URL,
 * or is empty or broken.
 */
export function parseDataUrl(url: string): ({ readonly mime: string } & ReadBase64) | null {
  const comma = url.indexOf(',');
  if (comma < 0 || comma > mostDeclared || !isDataUrl(url)) return null;
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  const data = inBase64(parameters, url.slice(comma + 1));
  const read = data === null ? null : readBase64(data);
  return read === null ? null : { mime: type.trim().toLowerCase() || 'text/plain', ...read };
}

/** Base64 that may be written in another form. Null for anything else. */
export function readBase64(text: string): ReadBase64 | null {
  if (isBase64(text)) return { base64: text };
  const base64 = undressed(text).replaceAll('-', '+').replaceAll('_', '/');
  return isBase64(base64) ? { base64, repaired: true } : null;
}

/**
 * The media type of a data URL in base64, as written, and the length of the text before the data. Null for any other
 * text. Looks for the first comma instead of using an expression, whose every repetition would scan all of the text.
 */
export function base64Prefix(text: string): { mime: string; length: number } | null {
  if (!isDataUrl(text)) return null;
  const comma = text.indexOf(',');
  const declaredType = text.slice('data:'.length, Math.max(comma, 0));
  if (!declaredType.slice(-base64Mark.length).toLowerCase().endsWith(base64Mark)) return null;
  return { mime: declaredType.slice(0, declaredType.indexOf(';')), length: comma + 1 };
}

export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

export function formatDataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`;
}

/** Not empty, in the standard alphabet, and of a valid length. Padding is optional. */
export function isBase64(text: string): boolean {
  if (text === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}

function inBase64(parameters: readonly string[], data: string): string | null {
  const at = parameters.findIndex((parameter) => parameter.trim().toLowerCase() === 'base64');
  if (at < 0) return percentDecoded(data)?.toString('base64') ?? null;
  // Padding is meaningful at the end only. A text with padding elsewhere is broken.
  if (at < parameters.length - 1) return null;
  return data.includes('%') ? (percentDecoded(data)?.toString('latin1') ?? null) : data;
}

/** Decodes percent-encoding into bytes, which need not be UTF-8: they may be an image. Null if the text is broken. */
function percentDecoded(text: string): Buffer | null {
  // Browsers read characters that should have been encoded as UTF-8.
  const bytes = Buffer.from(text);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    let byte = bytes[at]!;
    if (byte === percent) {
      byte = 16 * hexDigit(bytes[at + 1]) + hexDigit(bytes[at + 2]);
      if (Number.isNaN(byte)) return null;
      at += 2;
    }
    bytes[length] = byte;
    length += 1;
  }
  return bytes.subarray(0, length);
}

/** NaN if it is not a hexadecimal digit. */
function hexDigit(character = 0): number {
  if (character >= 0x30 && character <= 0x39) return character - 0x30;
  // In lower case.
  const letter = character | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
