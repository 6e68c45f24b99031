import { isUtf8 } from 'node:buffer';
import { GatewayError } from '#errors/index.ts';
import type { Range } from './members.ts';
import { afterEscaped, cutAt, isPlainText, longestOutlined } from './outline.ts';
import { backslash, quote } from './skip.ts';

/** In bytes, of all that is not in long strings. */
const mostKept = 2 * 1024 * 1024;
/** A cut reads as far as the end of an escape. */
const headBytes = longestOutlined + 8;
const leastRoom = 16 * 1024;

interface Cut {
  /** Where the outline lacks something. */
  readonly at: number;
  readonly bytes: number;
}

/**
 * Makes the outline of a JSON body (`outlineOf`) piece by piece as the body arrives, so that it need not be in memory.
 * Strings that are cut are checked here; for all else, parse the outline.
 */
export class PieceOutline {
  /** Bytes of the body so far. */
  length = 0;
  readonly #utf8 = new Utf8Check();
  readonly #cuts: Cut[] = [];
  #keptBuffer = Buffer.allocUnsafeSlow(leastRoom);
  #keptBytes = 0;
  /** Where the string begins in the outline, after its quote; -1 outside of strings. */
  #stringAt = -1;
  /** Bytes of the string so far. */
  #stringBytes = 0;
  /** Inside of an escape: 0 outside, 1 before its letter, 2 to 5 by the hexadecimal digits that are missing. */
  #escape = 0;
  /** A string holds what JSON does not allow there. Matters only if it is cut. */
  #isWrong = false;
  #failure: GatewayError | null = null;

  add(piece: Buffer): void {
    this.length += piece.length;
    if (this.#failure !== null) return;
    this.#utf8.add(piece);
    let at = 0;
    while (at < piece.length && this.#failure === null) {
      at = this.#stringAt < 0 ? this.#readOutside(piece, at) : this.#readString(piece, at);
    }
  }

  /** Bytes of memory. */
  get keptMemory(): number {
    return this.#keptBuffer.length;
  }

  /** @throws GatewayError `invalid_body`, `too_complex` */
  end(): Buffer {
    if (this.#failure !== null) throw this.#failure;
    if (this.#stringAt >= 0 || !this.#utf8.isWhole) throw new GatewayError('invalid_body');
    return this.#keptBuffer.subarray(0, this.#keptBytes);
  }

  /** Where the body has what the outline has there. */
  placeOf({ start, end }: Range): Range {
    return { start: this.#placeOf(start), end: this.#placeOf(end) };
  }

  #placeOf(at: number): number {
    return this.#cuts.reduce((place, cut) => (cut.at <= at ? place + cut.bytes : place), at);
  }

  #readOutside(piece: Buffer, from: number): number {
    const foundAt = piece.indexOf(quote, from);
    const end = foundAt < 0 ? piece.length : foundAt + 1;
    this.#keep(piece, from, end);
    if (foundAt >= 0) {
      this.#stringAt = this.#keptBytes;
      this.#stringBytes = 0;
      this.#isWrong = false;
    }
    return end;
  }

  #readString(piece: Buffer, from: number): number {
    const end = this.#endOfString(piece, from);
    const until = end < 0 ? piece.length : end;
    const room = headBytes - this.#stringBytes;
    if (room > 0) this.#keep(piece, from, Math.min(until, from + room));
    this.#stringBytes += until - from;
    if (end < 0) return until;
    this.#endString();
    this.#keep(piece, end, end + 1);
    return end + 1;
  }

  /** Where the closing quote stands; -1: not in this piece. */
  #endOfString(piece: Buffer, from: number): number {
    let at = from;
    let quoteAt = -1;
    while (at < piece.length) {
      if (this.#escape > 0) {
        this.#readEscape(piece[at]!);
        at += 1;
        continue;
      }
      // Searched again only behind a quote that was escaped: a string of escapes alone would take quadratic time.
      if (quoteAt < at) {
        const foundAt = piece.indexOf(quote, at);
        quoteAt = foundAt < 0 ? piece.length : foundAt;
      }
      const escapeAt = nextEscape(piece, at, quoteAt);
      if (!this.#isWrong && !isPlainText(piece, at, escapeAt)) this.#isWrong = true;
      if (escapeAt === quoteAt) return quoteAt === piece.length ? -1 : quoteAt;
      this.#escape = 1;
      at = escapeAt + 1;
    }
    return -1;
  }

  #readEscape(byte: number): void {
    const next = afterEscaped(byte, this.#escape);
    if (next < 0) this.#isWrong = true;
    this.#escape = Math.max(0, next);
  }

  #endString(): void {
    const start = this.#stringAt;
    this.#stringAt = -1;
    if (this.#stringBytes <= longestOutlined) return;
    if (this.#isWrong) {
      this.#failure = new GatewayError('invalid_body');
      return;
    }
    const at = cutAt(this.#keptBuffer, start, longestOutlined);
    this.#cuts.push({ at, bytes: this.#stringBytes - (at - start) });
    this.#keptBytes = at;
  }

  #keep(piece: Buffer, from: number, to: number): void {
    const length = this.#keptBytes + to - from;
    if (length > mostKept) {
      this.#failure = new GatewayError('too_complex');
      return;
    }
    if (length > this.#keptBuffer.length) {
      const larger = Buffer.allocUnsafeSlow(2 * length);
      this.#keptBuffer.copy(larger, 0, 0, this.#keptBytes);
      this.#keptBuffer = larger;
    }
    this.#keptBytes += piece.copy(this.#keptBuffer, this.#keptBytes, from, to);
  }
}

/** The next backslash before `until`; `until` if there is none. Escapes often follow each other closely. */
function nextEscape(piece: Buffer, from: number, until: number): number {
  const near = Math.min(until, from + 16);
  for (let at = from; at < near; at += 1) if (piece[at] === backslash) return at;
  if (near === until) return until;
  const foundAt = piece.subarray(near, until).indexOf(backslash);
  return foundAt < 0 ? until : near + foundAt;
}

/** Whether bytes that come in pieces are UTF-8. */
export class Utf8Check {
  /** The beginning of a character that the last piece did not end. */
  #open = Buffer.alloc(0);
  #isValid = true;

  add(piece: Buffer): void {
    if (!this.#isValid || piece.length === 0) return;
    let from = 0;
    if (this.#open.length > 0) {
      from = Math.min(lengthOf(this.#open[0]!) - this.#open.length, piece.length);
      this.#open = Buffer.concat([this.#open, piece.subarray(0, from)]);
      if (this.#open.length < lengthOf(this.#open[0]!)) return;
      this.#isValid = isUtf8(this.#open);
      this.#open = nothing;
    }
    const end = Math.max(from, endOfWhole(piece));
    this.#isValid &&= isUtf8(piece.subarray(from, end));
    // A copy, because a piece may be used again.
    if (end < piece.length) this.#open = Buffer.from(piece.subarray(end));
  }

  /** Whether all bytes so far are characters. */
  get isWhole(): boolean {
    return this.#isValid && this.#open.length === 0;
  }
}

const nothing = Buffer.alloc(0);

/** Bytes of a character, by its first one. What begins no character counts as one byte, and is found wrong. */
function lengthOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

/** Where the last character of a piece begins if the piece does not end it; otherwise the end of the piece. */
function endOfWhole(piece: Buffer): number {
  const { length } = piece;
  for (let back = 1; back <= 3 && back <= length; back += 1) {
    const byte = piece[length - back]!;
    if ((byte & 0xc0) !== 0x80) return lengthOf(byte) > back ? length - back : length;
  }
  return length;
}
