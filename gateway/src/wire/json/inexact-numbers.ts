import {
  closeBrace,
  closeBracket,
  comma,
  endsScalar,
  openBrace,
  openBracket,
  quote,
  skipString,
} from './skip.ts';

const minus = 0x2d;
const zero = 0x30;
const nine = 0x39;

/** Every integer with at most this many digits is exact as a double. */
const safeDigits = 15;

/**
 * To keep numbers as written, every value of the JSON is visited in JavaScript, a microsecond or more each, while
 * everybody else waits. A long conversation has a few thousand values.
 */
const maxValues = 20_000;

/**
 * Whether JSON contains a number that changes when it is parsed and written: more digits than a double has, `1.0`,
 * `-0`, `1e400`. False if it has too many values to check. Digits within strings do not count.
 * @param below only numbers nested deeper than this many objects and arrays are checked
 */
export function holdsInexactNumbers(json: Buffer, below = 0): boolean {
  let depth = 0;
  let values = 0;
  let isFound = false;
  let at = 0;
  while (at < json.length) {
    const byte = json[at]!;
    if (byte === quote) {
      at = skipString(json, at);
      if (at < 0) return false;
    } else if (byte === minus || (byte >= zero && byte <= nine)) {
      const start = at;
      while (at < json.length && !endsScalar(json[at]!)) at += 1;
      if (!isFound && depth > below) isFound = isInexact(json, start, at);
    } else {
      if (byte === comma) values += 1;
      else if (byte === openBrace || byte === openBracket) {
        depth += 1;
        values += 1;
      } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
      if (values > maxValues) return false;
      at += 1;
    }
  }
  return isFound;
}

function isInexact(json: Buffer, start: number, end: number): boolean {
  if (json[start] !== minus && end - start <= safeDigits && isInteger(json, start, end))
    return false;
  const source = json.toString('latin1', start, end);
  return String(Number(source)) !== source;
}

function isInteger(json: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (json[at]! < zero || json[at]! > nine) return false;
  return true;
}
