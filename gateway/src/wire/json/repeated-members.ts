import { GatewayError } from '#errors/index.ts';
import { backslash, closeBrace, colon, openBrace, quote, skipSpace, skipString } from './skip.ts';

/**
 * Refuses a body in which an object has one of these members twice, in whatever spelling: two JSON parsers could read
 * it differently. One pass over the bytes, for the few requests where such a member matters.
 * @param body valid JSON
 * @throws GatewayError `duplicate_key`
 */
export function refuseRepeatedMembers(body: Buffer, names: readonly string[]): void {
  const byFold = new Map(names.map((name) => [fold(name), name]));
  const lengths = new Set(names.map((name) => name.length));
  /** For each open object, the given members it has so far; allocated for the first one. */
  const open: (Set<string> | null)[] = [];
  let at = 0;
  while (at < body.length) {
    const byte = body[at];
    if (byte === openBrace) open.push(null);
    else if (byte === closeBrace) open.pop();
    if (byte !== quote) {
      at += 1;
      continue;
    }
    const end = skipString(body, at);
    // Cannot happen: the body has been parsed.
    if (end < 0) return;
    if (body[skipSpace(body, end)] === colon) {
      const key = keyAt(body, at, end, lengths);
      const name = key === null ? undefined : byFold.get(fold(key));
      if (key !== null && name !== undefined) note(open, name, key);
    }
    at = end;
  }
}

function note(open: (Set<string> | null)[], name: string, key: string): void {
  const last = open.length - 1;
  const named = open[last] ?? new Set<string>();
  if (named.has(name)) throw new GatewayError('duplicate_key', { values: { key } });
  named.add(name);
  open[last] = named;
}

/** The key between two quotes; null if it cannot be one of the names. */
function keyAt(body: Buffer, start: number, end: number, lengths: Set<number>): string | null {
  let isPlain = true;
  for (let at = start; at < end; at += 1) {
    const byte = body[at]!;
    if (byte === backslash) return JSON.parse(body.toString('utf8', start, end)) as string;
    // Letters that fold to ASCII letters take more bytes than those.
    if (byte > 0x7f) isPlain = false;
  }
  if (isPlain && !lengths.has(end - start - 2)) return null;
  return body.toString('utf8', start + 1, end - 1);
}

/** Folds like the watch list (`watch-list.ts`). */
function fold(key: string): string {
  return key.toUpperCase().toLowerCase();
}
