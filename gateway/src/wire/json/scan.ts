import { GatewayError } from '#errors/index.ts';
import { type Budget, openBudget } from './budget.ts';
import {
  closeBrace,
  colon,
  comma,
  openBrace,
  quote,
  skipSpace,
  skipString,
  skipValue,
  tooComplex,
} from './skip.ts';
import type { WatchedMember, WatchedObject } from './watch-list.ts';

/**
 * The positions of the members that the gateway reads in a JSON body, in bytes. Created in one pass over the bytes,
 * which also checks the nesting limit and that no watched object has a member twice.
 */
export interface JsonScan {
  /**
   * Ranges by dotted path as in the watch list (`model`, `stream_options.include_usage`). An absent path is not in the
   * body.
   */
  readonly members: ReadonlyMap<string, MemberRange>;
  /** Watched objects by dotted path (`''` is the root): where a new first member can be inserted. */
  readonly objects: ReadonlyMap<string, ObjectRange>;
  /** The number of members in all objects except the watched ones. */
  readonly memberCount: number;
  /** The number of objects and lists below the watched ones, plus elements after the first. */
  readonly valueCount: number;
}

export interface MemberRange {
  /** First byte of the key, its opening quote. */
  readonly keyStart: number;
  readonly valueStart: number;
  /** One past the last byte of the value. */
  readonly valueEnd: number;
}

export interface ObjectRange {
  /** One past the `{`. */
  readonly start: number;
  readonly empty: boolean;
}

/** Limit for objects that the gateway reads, where every key is compared with every other. */
const maxWatchedMembers = 10_000;

/**
 * Scans a body whose root must be an object. It may accept text that is not JSON (`JSON.parse` decides that), but for
 * JSON the ranges are exact. Linear in the body; the recursion is as deep as the watch list, not the body.
 * @param budget the budget for the values of the body
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`.
 */
export function scanJson(
  body: Buffer,
  watch: WatchedObject,
  budget: Budget = openBudget(body.length),
): JsonScan {
  const members = new Map<string, MemberRange>();
  const objects = new Map<string, ObjectRange>();
  const start = skipSpace(body, 0);
  if (body[start] !== openBrace) throw new GatewayError('invalid_body');
  const before = { ...budget };
  const end = scanObject(body, start, watch, 1, { members, objects, budget });
  if (skipSpace(body, end) !== body.length) throw new GatewayError('invalid_body');
  return {
    members,
    objects,
    memberCount: before.members - budget.members,
    valueCount: before.values - budget.values,
  };
}

interface Found {
  readonly members: Map<string, MemberRange>;
  readonly objects: Map<string, ObjectRange>;
  readonly budget: Budget;
}

function scanObject(
  body: Buffer,
  open: number,
  watch: WatchedObject,
  depth: number,
  found: Found,
): number {
  const seen = new Set<string>();
  let at = skipSpace(body, open + 1);
  const empty = body[at] === closeBrace;
  found.objects.set(watch.path, { start: open + 1, empty });
  if (empty) return at + 1;
  for (;;) {
    if (body[at] !== quote) throw new GatewayError('invalid_body');
    const keyStart = at;
    const keyEnd = skipString(body, at);
    if (keyEnd < 0) throw new GatewayError('invalid_body');
    const member = admitKey(keyText(body, keyStart, keyEnd), watch, seen, found.members);
    at = skipSpace(body, keyEnd);
    if (body[at] !== colon) throw new GatewayError('invalid_body');
    const valueStart = skipSpace(body, at + 1);
    const valueEnd =
      member !== null && member.object !== null && body[valueStart] === openBrace
        ? scanObject(body, valueStart, member.object, depth + 1, found)
        : skipValue(body, valueStart, depth, found.budget);
    if (valueEnd < 0) {
      throw new GatewayError(valueEnd === tooComplex ? 'too_complex' : 'invalid_body');
    }
    if (member !== null) found.members.set(member.path, { keyStart, valueStart, valueEnd });
    at = skipSpace(body, valueEnd);
    if (body[at] === closeBrace) return at + 1;
    if (body[at] !== comma) throw new GatewayError('invalid_body');
    at = skipSpace(body, at + 1);
  }
}

/**
 * The watched member that a key names, or null. Upstreams disagree about which of two equal keys counts, and some
 * ignore case, so a body that could be read in two ways is refused.
 */
function admitKey(
  key: string,
  watch: WatchedObject,
  seen: Set<string>,
  members: ReadonlyMap<string, MemberRange>,
): WatchedMember | null {
  if (seen.has(key)) throw duplicateKey(key);
  seen.add(key);
  if (seen.size > maxWatchedMembers) throw new GatewayError('too_complex');
  const member = watch.bySpelling.get(key);
  if (member === undefined) {
    if (watch.byFold.has(watch.fold(key))) throw duplicateKey(key);
    return null;
  }
  if (members.has(member.path)) throw duplicateKey(key);
  return member;
}

function keyText(body: Buffer, start: number, end: number): string {
  for (let i = start + 1; i < end - 1; i += 1) {
    const byte = body[i]!;
    if (byte === 0x5c || byte >= 0x80) return decodedKey(body, start, end);
  }
  return body.toString('latin1', start + 1, end - 1);
}

function decodedKey(body: Buffer, start: number, end: number): string {
  try {
    return String(JSON.parse(body.toString('utf8', start, end)));
  } catch (cause) {
    throw new GatewayError('invalid_body', { cause });
  }
}

function duplicateKey(key: string): GatewayError {
  return new GatewayError('duplicate_key', { values: { key }, param: key });
}
