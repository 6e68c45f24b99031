import { parseObject, type ParsedObject, type ParseRoom, type WatchedObject } from './scan.ts';
import { backslash, quote, skipString } from './skip.ts';

/** In bytes between the quotes: longer strings are cut. Far more than any text that the gateway has to understand. */
export const longestOutlined = 8 * 1024;

/**
 * Scans and parses a request body once, like `parseObject`, for bodies that hold images as text: of every string with
 * more than {@link longestOutlined} bytes the value has only the beginning. Megabytes never become a JavaScript string.
 * @throws GatewayError as `parseObject`
 */
export function parseOutline(body: Buffer, watch: WatchedObject, room?: ParseRoom): ParsedObject {
  return parseObject(body, watch, room, (json) => outlineOf(json, longestOutlined));
}

/**
 * A JSON text with its long strings cut to their first `longest` bytes or a few less; the same buffer if it has none.
 * Null if a string does not end, or a long one is not one of JSON: for all else, parse the result.
 * @param isChecked false: long strings are not looked into, where only speed matters
 */
export function outlineOf(body: Buffer, longest: number, isChecked = true): Buffer | null {
  const pieces: Buffer[] = [];
  let from = 0;
  let at = body.indexOf(quote);
  while (at >= 0 && at < body.length) {
    if (body[at] !== quote) {
      at += 1;
      continue;
    }
    const end = skipString(body, at);
    if (end < 0) return null;
    if (end - at > longest + 2) {
      if (isChecked && !isStringText(body, at + 1, end - 1)) return null;
      pieces.push(body.subarray(from, cutAt(body, at + 1, longest)));
      from = end - 1;
    }
    at = end;
  }
  if (from === 0) return body;
  pieces.push(body.subarray(from));
  return Buffer.concat(pieces);
}

/** Where a long string is cut: between two characters, and never within an escape. */
export function cutAt(body: Buffer, start: number, longest: number): number {
  const latest = start + longest;
  let at = latest;
  const firstEscape = body.subarray(start, latest).indexOf(backslash);
  if (firstEscape >= 0) {
    at = start + firstEscape;
    for (;;) {
      const isEscape = body[at] === backslash;
      const next = at + (!isEscape ? 1 : body[at + 1] === 0x75 ? 6 : 2);
      if (next > latest) break;
      at = next;
    }
  }
  // Not within a character of several bytes.
  while (at > start && (body[at]! & 0xc0) === 0x80) at -= 1;
  return at;
}

/** Whether JSON allows these bytes in a string: no control characters, and only known escapes. */
export function isStringText(body: Buffer, start: number, end: number): boolean {
  if (!isPlainText(body, start, end)) return false;
  const text = body.subarray(start, end);
  let at = text.indexOf(backslash);
  while (at >= 0) {
    const kind = text[at + 1]!;
    if (kind === 0x75) {
      if (!/^[0-9a-f]{4}$/i.test(text.toString('latin1', at + 2, at + 6))) return false;
      at += 6;
    } else if (shortEscapes[kind] === 1) at += 2;
    else return false;
    // Escapes often follow each other closely; a native search for each would cost more.
    if (text[at] !== backslash) at = text.indexOf(backslash, at);
  }
  return true;
}

/** 1 for the bytes that may follow a backslash. A table, because a text may consist of escapes. */
const shortEscapes = new Uint8Array(256);
for (const byte of Buffer.from('"\\/bfnrt')) shortEscapes[byte] = 1;

/**
 * Reads the next byte of an escape.
 * @param state 1 before its letter, 2 to 5 by the hexadecimal digits that are missing
 * @returns the state after it, 0 at its end; negative if JSON has no such escape
 */
export function afterEscaped(byte: number, state: number): number {
  if (state > 1) return isHexadecimal(byte) ? (state === 2 ? 0 : state - 1) : -1;
  if (byte === 0x75) return 5;
  return shortEscapes[byte] === 1 ? 0 : -1;
}

function isHexadecimal(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    (byte >= 0x41 && byte <= 0x46) ||
    (byte >= 0x61 && byte <= 0x66)
  );
}

/** Whether no byte is a control character. Escapes are not looked at. */
export function isPlainText(body: Buffer, start: number, end: number): boolean {
  return !holdsControls(body, start, end);
}

/** Whether a byte is below 0x20. Four bytes at a time, since images are long. */
function holdsControls(body: Buffer, start: number, end: number): boolean {
  let at = start;
  const alignedStart = Math.min(end, at + ((4 - ((body.byteOffset + at) & 3)) & 3));
  for (; at < alignedStart; at += 1) if (body[at]! < 0x20) return true;
  if (at === end) return false;
  const words = new Int32Array(body.buffer, body.byteOffset + at, (end - at) >> 2);
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index]!;
    // Borrows only from a byte that is below 0x20 itself.
    if (((word - 0x20202020) & ~word & 0x80808080) !== 0) return true;
  }
  for (at += words.length * 4; at < end; at += 1) if (body[at]! < 0x20) return true;
  return false;
}
