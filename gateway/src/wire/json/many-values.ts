import { closeBrace, closeBracket, colon, comma, quote, skipString } from './skip.ts';

/**
 * Whether a text contains more members, values, objects and lists than `most`, counted by the separators between them.
 * It need not be JSON. Linear in the bytes, and usually ends early for dense text.
 */
export function holdsMoreThan(json: Buffer, most: number): boolean {
  if (json.length <= most) return false;
  let count = 0;
  for (let at = 0; at < json.length && count <= most;) {
    const byte = json[at]!;
    if (byte === quote) {
      const end = skipString(json, at);
      if (end < 0) break;
      at = end;
      continue;
    }
    if (byte === comma || byte === colon || byte === closeBrace || byte === closeBracket) {
      count += 1;
    }
    at += 1;
  }
  return count > most;
}
