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
  if (edits.length === 0) return body;
  const sorted = edits.length === 1 ? edits : edits.toSorted((a, b) => a.start - b.start);
  let length = body.length;
  let last = 0;
  for (const edit of sorted) {
    if (edit.start < last || edit.end < edit.start || edit.end > body.length) {
      throw new RangeError('edits overlap or lie outside the body');
    }
    last = edit.end;
    length += edit.bytes.length - (edit.end - edit.start);
  }
  const result = Buffer.allocUnsafe(length);
  let from = 0;
  let to = 0;
  for (const edit of sorted) {
    to += body.copy(result, to, from, edit.start);
    to += edit.bytes.copy(result, to);
    from = edit.end;
  }
  body.copy(result, to, from);
  return result;
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
