import { GatewayError } from '#errors/index.ts';
import type { MemberRange } from './scan.ts';
import {
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  skipSpace,
  skipString,
  skipValue,
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
function keyOf(quoted: string): string {
  return quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
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
