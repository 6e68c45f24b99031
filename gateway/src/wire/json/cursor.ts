import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  skipSpace,
  skipValue,
} from './skip.ts';

/** The bytes of a key for {@link JsonCursor.keyIs}. ASCII only. */
export function keyBytes(key: string): Buffer {
  return Buffer.from(key, 'latin1');
}

/**
 * Walks forward through a small JSON value without building it: for stream events, where two or three members of
 * hundreds of bytes matter. Exact for valid JSON whose keys have no escapes; on anything else it sets `failed`, and
 * every method returns false from then on. Allocates nothing.
 *
 * Between calls it stands at the first byte of a value. Use: `while (cursor.nextMember()) { …; cursor.skip(); }`.
 */
export class JsonCursor {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #keyStart = 0;
  #keyEnd = 0;
  failed = false;

  /** Moves to the first value of `bytes`. */
  reset(bytes: Buffer, at = 0): void {
    this.#bytes = bytes;
    this.failed = false;
    this.#at = skipSpace(bytes, at);
  }

  /** Enters the object that `bytes` should hold; false if they begin with anything else. End with `close`. */
  open(bytes: Buffer): boolean {
    this.reset(bytes);
    return this.enterObject() || this.#fail();
  }

  /** Releases the bytes. True if the object was walked to its end and nothing follows it. */
  close(): boolean {
    const isWhole = !this.failed && this.ended;
    this.clear();
    return isWhole;
  }

  /** Releases the bytes, so that they can be collected. */
  clear(): void {
    this.reset(nothing);
  }

  get at(): number {
    return this.#at;
  }

  /** Whether no bytes are left. */
  get ended(): boolean {
    return skipSpace(this.#bytes, this.#at) === this.#bytes.length;
  }

  /** Enters the current object. False if the value is not an object; then it must be skipped. */
  enterObject(): boolean {
    return this.#enter(openBrace);
  }

  enterArray(): boolean {
    return this.#enter(openBracket);
  }

  /** Moves to the value of the next member of the innermost object. At its end, leaves the object and returns false. */
  nextMember(): boolean {
    if (!this.#next(closeBrace)) return false;
    const bytes = this.#bytes;
    const start = this.#at + 1;
    if (bytes[start - 1] !== quote) return this.#fail();
    let end = start;
    while (end < bytes.length && bytes[end] !== quote) {
      if (bytes[end] === backslash) return this.#fail();
      end += 1;
    }
    this.#keyStart = start;
    this.#keyEnd = end;
    const separator = skipSpace(bytes, end + 1);
    if (bytes[separator] !== colon) return this.#fail();
    this.#at = skipSpace(bytes, separator + 1);
    return true;
  }

  /** Moves to the next element of the innermost array. At its end, leaves the array and returns false. */
  nextElement(): boolean {
    return this.#next(closeBracket);
  }

  keyIs(key: Buffer): boolean {
    const length = key.length;
    if (this.#keyEnd - this.#keyStart !== length) return false;
    const bytes = this.#bytes;
    const start = this.#keyStart;
    for (let i = 0; i < length; i += 1) {
      if (bytes[start + i] !== key[i]) return false;
    }
    return true;
  }

  /** Skips the current value; returns where it ends. */
  skip(): number {
    if (this.failed) return this.#at;
    const end = skipValue(this.#bytes, this.#at, 0);
    if (end < 0) this.#fail();
    else this.#at = end;
    return this.#at;
  }

  isString(): boolean {
    return this.#bytes[this.#at] === quote;
  }

  /** Whether the value is `null`, `false`, `""`, `[]`, `{}` or `0`. */
  isEmpty(): boolean {
    const bytes = this.#bytes;
    switch (bytes[this.#at]) {
      case quote:
        return bytes[this.#at + 1] === quote;
      case openBrace:
        return bytes[skipSpace(bytes, this.#at + 1)] === closeBrace;
      case openBracket:
        return bytes[skipSpace(bytes, this.#at + 1)] === closeBracket;
      case 0x66:
      case 0x6e:
        return true;
      case 0x30: {
        const next = bytes[this.#at + 1];
        return next !== 0x2e && next !== 0x65 && next !== 0x45;
      }
      default:
        return false;
    }
  }

  isNull(): boolean {
    return this.#bytes[this.#at] === 0x6e;
  }

  /** Skips the current string and returns the UTF-8 length of its text; 0 for any other value. */
  skipText(): number {
    const start = this.#at;
    const isString = this.isString();
    const end = this.skip();
    return isString && !this.failed ? textLength(this.#bytes, start + 1, end - 1) : 0;
  }

  /** Skips the current value and returns it if it is a small number of digits only; otherwise -1. */
  skipCount(): number {
    const start = this.#at;
    const end = this.skip();
    if (this.failed || end - start > 15) return -1;
    let count = 0;
    for (let i = start; i < end; i += 1) {
      const digit = this.#bytes[i]! - 0x30;
      if (digit < 0 || digit > 9) return -1;
      count = count * 10 + digit;
    }
    return count;
  }

  /** Skips the current value and parses it; undefined if it is not JSON. */
  read(): unknown {
    const start = this.#at;
    const end = this.skip();
    if (this.failed) return undefined;
    try {
      return JSON.parse(this.#bytes.toString('utf8', start, end)) as unknown;
    } catch {
      this.#fail();
      return undefined;
    }
  }

  #enter(bracket: number): boolean {
    if (this.failed || this.#bytes[this.#at] !== bracket) return false;
    this.#at += 1;
    return true;
  }

  #next(close: number): boolean {
    if (this.failed) return false;
    const bytes = this.#bytes;
    let at = skipSpace(bytes, this.#at);
    if (bytes[at] === close) {
      this.#at = at + 1;
      return false;
    }
    if (bytes[at] === comma) at = skipSpace(bytes, at + 1);
    if (at >= bytes.length) return this.#fail();
    this.#at = at;
    return true;
  }

  #fail(): false {
    this.failed = true;
    return false;
  }
}

const nothing = Buffer.alloc(0);

/** The UTF-8 length of the text in a JSON string from `start` to `end`, without its quotes. */
export function textLength(bytes: Buffer, start: number, end: number): number {
  let length = end - start;
  for (let i = start; i < end; i += 1) {
    if (bytes[i] !== backslash) continue;
    if (bytes[i + 1] !== 0x75) {
      length -= 1;
      i += 1;
      continue;
    }
    const unit = Number.parseInt(bytes.toString('latin1', i + 2, i + 6), 16);
    // A surrogate is half of a four-byte character.
    const isSurrogate = unit >= 0xd800 && unit <= 0xdfff;
    const encodedLength = unit < 0x80 ? 1 : unit < 0x800 || isSurrogate ? 2 : 3;
    length -= 6 - encodedLength;
    i += 5;
  }
  return length;
}
