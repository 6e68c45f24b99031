/**
 * The deepest nesting that is read; deeper JSON is refused. Far above any real request, far below the limit of
 * recursion.
 */
export const maxDepth = 512;

export const quote = 0x22;
export const comma = 0x2c;
export const colon = 0x3a;
export const openBracket = 0x5b;
export const backslash = 0x5c;
export const closeBracket = 0x5d;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;

/** What may still be skipped, shared by all calls for one body; see `Budget`. */
interface SkipBudget {
  members: number;
  values: number;
}

const unlimitedBudget: SkipBudget = { members: Infinity, values: Infinity };

/** The result of `skipValue` if there is no value. */
export const notJson = -1;
/** The result for a value that is too deep or exceeds the budget. */
export const tooComplex = -2;

/** Up to this length, strings are walked byte by byte; a native search costs more than it saves. */
const nearBytes = 64;

/** The open bracket at each depth. One array for all calls: skipping is synchronous and never nested. */
const openAt = new Uint8Array(maxDepth + 1);

/** The first byte at or after `at` that is not JSON white space; the end of the bytes if there is none. */
export function skipSpace(bytes: Uint8Array, at: number): number {
  let i = at;
  while (i < bytes.length) {
    const byte = bytes[i]!;
    if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) break;
    i += 1;
  }
  return i;
}

/**
 * One past the closing quote of the string that opens at `open`, or -1 if it does not close. Long strings (base64
 * images) are searched natively. Every byte is visited a bounded number of times, whatever the escapes.
 */
export function skipString(bytes: Buffer, openAt: number): number {
  let i = openAt + 1;
  for (;;) {
    const near = Math.min(i + nearBytes, bytes.length);
    while (i < near) {
      const byte = bytes[i]!;
      if (byte === quote) return i + 1;
      i += byte === backslash ? 2 : 1;
    }
    if (i >= bytes.length) return -1;
    const foundAt = bytes.indexOf(quote, i);
    if (foundAt < 0) return -1;
    let first = foundAt;
    while (first > i && bytes[first - 1] === backslash) first -= 1;
    if ((foundAt - first) % 2 === 0) return foundAt + 1;
    i = foundAt + 1;
  }
}

/**
 * One past the value that begins at `at`. Negative on failure: {@link notJson} if its brackets do not match or a string
 * does not close, {@link tooComplex} if it is nested deeper than {@link maxDepth} with `depth` levels around it, or
 * exceeds the budget. Numbers and literals are not checked.
 */
export function skipValue(
  bytes: Buffer,
  at: number,
  depth: number,
  budget: SkipBudget = unlimitedBudget,
): number {
  const byte = bytes[at];
  if (byte === undefined) return notJson;
  if (byte === quote) return skipString(bytes, at);
  if (byte === openBrace || byte === openBracket) return skipContainer(bytes, at, depth, budget);
  return skipScalar(bytes, at);
}

function skipScalar(bytes: Buffer, at: number): number {
  let i = at;
  while (i < bytes.length && !endsScalar(bytes[i]!)) i += 1;
  return i === at ? notJson : i;
}

export function endsScalar(byte: number): boolean {
  return (
    byte <= 0x20 ||
    byte === comma ||
    byte === closeBrace ||
    byte === closeBracket ||
    byte === colon ||
    byte === quote
  );
}

function skipContainer(bytes: Buffer, at: number, around: number, budget: SkipBudget): number {
  let depth = around;
  let members = 0;
  let values = 0;
  let i = at;
  while (i < bytes.length) {
    const byte = bytes[i]!;
    if (byte === quote) {
      i = skipString(bytes, i);
      if (i < 0) return notJson;
      continue;
    }
    if (byte === openBracket && budget === unlimitedBudget) {
      const end = skipNumbers(bytes, i);
      if (end > 0 && depth < maxDepth) {
        if (depth === around) return end;
        i = end;
        continue;
      }
    }
    if (byte === openBrace || byte === openBracket) {
      depth += 1;
      if (depth > maxDepth) return tooComplex;
      openAt[depth] = byte;
      values += 1;
    } else if (byte === closeBrace || byte === closeBracket) {
      // In ASCII a closing bracket is its opening one plus 2.
      if (openAt[depth] !== byte - 2) return notJson;
      depth -= 1;
      if (depth === around) {
        budget.members -= members;
        budget.values -= values;
        return budget.members < 0 || budget.values < 0 ? tooComplex : i + 1;
      }
    } else if (byte === comma) values += 1;
    else if (byte === colon) members += 1;
    i += 1;
  }
  return notJson;
}

/** A vector of an embedding is shorter. Bounds what a search that finds nothing costs. */
const longestNumbers = 1024 * 1024;

/**
 * One past a long list of numbers, found natively; {@link notJson} for any other value and for short lists, which are
 * walked as fast. Vectors are megabytes of digits with nothing between them to count or to match.
 */
function skipNumbers(bytes: Buffer, openAt: number): number {
  const first = bytes[openAt + 1]!;
  const isNumber = first === 0x2d || (first >= 0x30 && first <= 0x39);
  if (!isNumber) return notJson;
  let i = openAt + 1;
  const near = Math.min(i + nearBytes, bytes.length);
  while (i < near) {
    if (!isOfNumbers(bytes[i]!)) return notJson;
    i += 1;
  }
  const ahead = bytes.subarray(i, i + longestNumbers);
  const close = ahead.indexOf(closeBracket);
  if (close < 0) return notJson;
  const rest = ahead.subarray(0, close);
  const isFlat = !others.some((other) => rest.includes(other));
  return isFlat ? i + close + 1 : notJson;
}

/** What may stand in JSON and not in a list of numbers. */
const others = [quote, openBracket, openBrace, closeBrace, colon];

/** Digits, signs, points, exponents, commas and space. */
function isOfNumbers(byte: number): boolean {
  return byte <= 0x39 ? byte !== quote : byte === 0x65 || byte === 0x45;
}
