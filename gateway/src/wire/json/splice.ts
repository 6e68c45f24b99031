import type { MemberRange, ObjectRange } from './scan.ts';
import { comma, skipSpace } from './skip.ts';

/** Replaces the bytes from `start` to `end` (exclusive). `start === end` inserts. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

const nothing = Buffer.alloc(0);

/** A new body with the edits applied, in any order; the same buffer if there are none. Edits must not overlap. */
export function splice(body: Buffer, edits: readonly Edit[]): Buffer {
  return edits.length === 0 ? body : Buffer.concat(splicePieces(body, edits));
}

/** The same in pieces: the body is not copied. */
export function splicePieces(body: Buffer, edits: readonly Edit[]): Buffer[] {
  const sortedEdits = edits.length < 2 ? edits : edits.toSorted((a, b) => a.start - b.start);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const edit of sortedEdits) {
    if (edit.start < from || edit.end < edit.start || edit.end > body.length) {
      throw new RangeError('edits overlap or lie outside the body');
    }
    pieces.push(body.subarray(from, edit.start), edit.bytes);
    from = edit.end;
  }
  pieces.push(body.subarray(from));
  return pieces;
}

/** Replaces the value of a member. */
export function replaceValue(member: MemberRange, value: unknown): Edit {
  return { start: member.valueStart, end: member.valueEnd, bytes: jsonBytes(value) };
}

/**
 * Removes a member and exactly one comma. A member before another one takes the space up to that one with it; the last
 * one takes the comma before it. Do not use it for two neighbours at once.
 */
export function removeMember(body: Buffer, member: MemberRange): Edit {
  const after = skipSpace(body, member.valueEnd);
  if (body[after] === comma) {
    return { start: member.keyStart, end: skipSpace(body, after + 1), bytes: nothing };
  }
  let before = member.keyStart - 1;
  while (before > 0 && isSpace(body[before]!)) before -= 1;
  const start = body[before] === comma ? before : member.keyStart;
  return { start, end: member.valueEnd, bytes: nothing };
}

/** Inserts a member before all others. Do not combine it with the removal of the only other one. */
export function insertMember(object: ObjectRange, key: string, value: unknown): Edit {
  const text = `${JSON.stringify(key)}:${JSON.stringify(value)}${object.empty ? '' : ','}`;
  return { start: object.start, end: object.start, bytes: Buffer.from(text) };
}

function jsonBytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
