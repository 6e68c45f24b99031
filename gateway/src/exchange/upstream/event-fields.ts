import type { StreamEvent } from '#protocols/protocol.ts';

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const space = 0x20;

/** The bytes of `data` and `event`. */
const dataField = Buffer.from('data');
const eventField = Buffer.from('event');

/**
 * Reads the fields of one complete event. `id`, `retry`, comments and unknown fields stay in `raw` only. `hasReturns`
 * false promises that `raw` contains no CR.
 */
export function parseEvent(raw: Buffer, hasReturns: boolean): StreamEvent {
  let name: string | null = null;
  let data: Buffer | null = null;
  /** Several data lines, in `joined[0..length)`; allocated for the second line. */
  let joined: Buffer | null = null;
  let length = 0;
  let at = 0;
  while (at < raw.length) {
    const end = hasReturns ? anyLineEnd(raw, at) : lineEnd(raw, at);
    if (fieldIs(raw, at, end, dataField)) {
      const value = fieldValue(raw, at + dataField.length, end);
      if (data === null) data = value;
      else {
        if (joined === null) {
          joined = Buffer.allocUnsafe(raw.length);
          length = data.copy(joined);
        }
        joined[length] = lineFeed;
        length += 1 + value.copy(joined, length + 1);
      }
    } else if (fieldIs(raw, at, end, eventField)) {
      const value = fieldValue(raw, at + eventField.length, end);
      name = value.length === 0 ? null : nameOf(value);
    }
    at = end + 1;
  }
  return { raw, name, data: joined === null ? data : joined.subarray(0, length) };
}

function lineEnd(raw: Buffer, at: number): number {
  const feed = raw.indexOf(lineFeed, at);
  return feed < 0 ? raw.length : feed;
}

/** The LF of a CR LF then reads as an empty line, which is harmless. */
function anyLineEnd(raw: Buffer, at: number): number {
  let i = at;
  while (i < raw.length && raw[i] !== lineFeed && raw[i] !== carriageReturn) i += 1;
  return i;
}

function fieldIs(raw: Buffer, at: number, end: number, field: Buffer): boolean {
  const length = field.length;
  if (end - at < length) return false;
  for (let i = 0; i < length; i += 1) if (raw[at + i] !== field[i]) return false;
  return end - at === length || raw[at + length] === colon;
}

/** The text after the colon, without one space: `data:{}` and `data: {}` are the same. */
function fieldValue(raw: Buffer, colonAt: number, end: number): Buffer {
  const start = raw[colonAt + 1] === space ? colonAt + 2 : colonAt + 1;
  return raw.subarray(Math.min(start, end), end);
}

/** Recent event names by length: the few names of a protocol become strings only once. */
const namesByLength: ({ bytes: Buffer; name: string } | undefined)[] = [];
const longestCachedName = 64;

function nameOf(value: Buffer): string {
  if (value.length > longestCachedName) return value.toString('utf8');
  const known = namesByLength[value.length];
  if (known !== undefined && sameBytes(known.bytes, value)) return known.name;
  const name = value.toString('utf8');
  namesByLength[value.length] = { bytes: Buffer.from(value), name };
  return name;
}

function sameBytes(a: Buffer, b: Buffer): boolean {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}
