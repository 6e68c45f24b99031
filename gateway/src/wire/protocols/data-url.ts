const percent = '%'.charCodeAt(0);
/** What stands before the comma: a type and its parameters, a file's name among them. */
const mostDeclared = 4096;
const base64Mark = ';base64';

/**
 * A data URL (RFC 2397) taken apart: what it carries in base64, percent-encoded data too. Null when it is none, carries
 * nothing, or is broken.
 */
export function parseDataUrl(url: string): { mime: string; base64: string } | null {
  const comma = url.indexOf(',');
  if (comma < 0 || comma > mostDeclared || !isDataUrl(url)) return null;
  const [type = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  const base64 = inBase64(parameters, url.slice(comma + 1));
  if (base64 === null || !isBase64(base64)) return null;
  return { mime: type.trim().toLowerCase() || 'text/plain', base64 };
}

/**
 * The media type of a data URL in base64, as it is written there, and how long what stands before the data is. Null for
 * any other text. Found by its first comma, not by an expression: each of its repetitions would take all of the text.
 */
export function base64Prefix(text: string): { mime: string; length: number } | null {
  if (!isDataUrl(text)) return null;
  const comma = text.indexOf(',');
  const declared = text.slice('data:'.length, Math.max(comma, 0));
  if (!declared.slice(-base64Mark.length).toLowerCase().endsWith(base64Mark)) return null;
  return { mime: declared.slice(0, declared.indexOf(';')), length: comma + 1 };
}

export function isDataUrl(url: string): boolean {
  return /^data:/i.test(url);
}

export function formatDataUrl(mime: string, base64: string): string {
  return `data:${mime};base64,${base64}`;
}

/** Not empty, of the standard alphabet, and of a length that base64 can have. Padding may be left out. */
export function isBase64(text: string): boolean {
  if (text === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return false;
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}

function inBase64(parameters: readonly string[], data: string): string | null {
  const at = parameters.findIndex((parameter) => parameter.trim().toLowerCase() === 'base64');
  if (at < 0) return percentDecoded(data)?.toString('base64') ?? null;
  // Only at the end does it mean something, and who put it elsewhere did not mean the letters as they stand.
  if (at < parameters.length - 1) return null;
  return data.includes('%') ? (percentDecoded(data)?.toString('latin1') ?? null) : data;
}

/** The bytes that a text stands for, which need not be UTF-8: a picture may be written so. Null when it is broken. */
function percentDecoded(text: string): Buffer | null {
  // What should have been encoded and is not, browsers read as UTF-8.
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

/** NaN for what is none. */
function hexDigit(character = 0): number {
  if (character >= 0x30 && character <= 0x39) return character - 0x30;
  // Its letter in lower case.
  const letter = character | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : Number.NaN;
}
