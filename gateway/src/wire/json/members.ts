import { GatewayError } from '#errors/index.ts';
import { foldCase, type MemberRange } from './scan.ts';
import {
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  skipSpace,
  skipString,
  skipValue,
  backslash,
  colon,
  quote,
} from './skip.ts';
import { type Edit, removeMember } from './splice.ts';

/** Bytes `start` to `end` (exclusive). */
export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface KeyedRange extends MemberRange {
  readonly key: string;
}

/** Where large objects and lists end, by where they begin. */
export type Ends = ReadonlyMap<number, number>;

/**
 * The members of the object that begins at `start`, in their order, repeated keys included. For parsed JSON only.
 * @throws GatewayError `too_complex` for a value nested deeper than is read
 */
export function membersAt(body: Buffer, start: number, ends?: Ends): KeyedRange[] {
  const members: KeyedRange[] = [];
  let at = skipSpace(body, start + 1);
  while (at < body.length && body[at] !== closeBrace) {
    const keyStart = at;
    const keyEnd = skipString(body, keyStart);
    const key = keyOf(body.toString('utf8', keyStart, keyEnd));
    const valueStart = skipSpace(body, skipSpace(body, keyEnd) + 1);
    const valueEnd = endOf(body, valueStart, ends);
    members.push({ key, keyStart, valueStart, valueEnd });
    at = pastComma(body, valueEnd);
  }
  return members;
}

/**
 * The elements of the list at `start`; none if the value there is not a list. For parsed JSON only.
 * @throws GatewayError `too_complex` for an element nested deeper than is read
 */
export function elementsAt(body: Buffer, start: number, ends?: Ends): Range[] {
  if (body[start] !== openBracket) return [];
  const elements: Range[] = [];
  let at = skipSpace(body, start + 1);
  while (at < body.length && body[at] !== closeBracket) {
    const end = endOf(body, at, ends);
    elements.push({ start: at, end });
    at = pastComma(body, end);
  }
  return elements;
}

/** The start of the object at `at`, after any white space. Null if the value there is not an object. */
export function objectStart(body: Buffer, at: number): number | null {
  const start = skipSpace(body, at);
  return body[start] === openBrace ? start : null;
}

/** Gives a member another name. */
export function replaceKey(body: Buffer, { keyStart }: MemberRange, key: string): Edit {
  const bytes = Buffer.from(JSON.stringify(key));
  return { start: keyStart, end: skipString(body, keyStart), bytes };
}

/**
 * Removes members of one object, neighbours too, each with the one comma that goes with it.
 * @param members all members of the object, in their order
 */
export function removeMembers<Member extends MemberRange>(
  body: Buffer,
  members: readonly Member[],
  isGone: (member: Member) => boolean,
): Edit[] {
  const edits: Edit[] = [];
  /** Neighbours are removed together: each alone would take the comma between them. */
  let run = null as MemberRange | null;
  for (const member of members) {
    if (isGone(member)) {
      run = { ...member, keyStart: run?.keyStart ?? member.keyStart };
    } else if (run !== null) {
      edits.push(removeMember(body, run));
      run = null;
    }
  }
  if (run !== null) edits.push(removeMember(body, run));
  return edits;
}

/** Keys hardly ever hold escapes. */
function keyOf(quotedKey: string): string {
  return quotedKey.includes('\\') ? (JSON.parse(quotedKey) as string) : quotedKey.slice(1, -1);
}

function endOf(body: Buffer, start: number, ends: Ends | undefined): number {
  const end = ends?.get(start) ?? skipValue(body, start, 0);
  if (end < 0) throw new GatewayError('too_complex');
  return end;
}

function pastComma(body: Buffer, at: number): number {
  const next = skipSpace(body, at);
  return body[next] === comma ? skipSpace(body, next + 1) : next;
}

/**
 * Refuses a body in which an object has one of these members twice, in whatever spelling: two JSON parsers could read
 * it differently. One pass over the bytes, for the few requests where such a member matters.
 * @param body valid JSON
 * @throws GatewayError `duplicate_key`
 */
export function refuseRepeatedMembers(body: Buffer, names: readonly string[]): void {
  const byFold = new Map(names.map((name) => [foldCase(name), name]));
  const lengths = new Set(names.map((name) => name.length));
  /** For each open object, the given members it has so far; allocated for the first one. */
  const openObjects: (Set<string> | null)[] = [];
  let at = 0;
  while (at < body.length) {
    const byte = body[at];
    if (byte === openBrace) openObjects.push(null);
    else if (byte === closeBrace) openObjects.pop();
    if (byte !== quote) {
      at += 1;
      continue;
    }
    const end = skipString(body, at);
    // Cannot happen: the body has been parsed.
    if (end < 0) return;
    if (body[skipSpace(body, end)] === colon) {
      const key = keyAt(body, at, end, lengths);
      const name = key === null ? undefined : byFold.get(foldCase(key));
      if (key !== null && name !== undefined) note(openObjects, name, key);
    }
    at = end;
  }
}

function note(openObjects: (Set<string> | null)[], name: string, key: string): void {
  const last = openObjects.length - 1;
  const namedMembers = openObjects[last] ?? new Set<string>();
  if (namedMembers.has(name)) throw new GatewayError('duplicate_key', { values: { key } });
  namedMembers.add(name);
  openObjects[last] = namedMembers;
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
