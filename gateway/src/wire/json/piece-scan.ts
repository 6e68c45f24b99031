import { afterEscaped } from './outline.ts';
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  maxDepth,
  openBrace,
  openBracket,
  quote,
} from './skip.ts';

/** A value to look for in a body. */
export interface WatchedPath {
  /** From the root: names of members, and `*` for each element of a list. */
  readonly path: readonly string[];
  /** The most bytes of its text that are kept. */
  readonly keep: number;
}

export interface FoundValue {
  readonly watched: WatchedPath;
  /** The place in each list on the way to it. */
  readonly indexes: readonly number[];
  /** The first byte of its text in the whole body, and one past the last. */
  readonly start: number;
  readonly end: number;
  /** The text, or the beginning of a longer one. */
  readonly text: Buffer;
}

/** The body is not JSON, or is nested deeper than is read. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
}

/** More watched values than any real body has. */
const mostFound = 10_000;
/** A longer key is not a watched one, however it is escaped. */
const longestKey = 1_024;

interface WatchNode {
  readonly members: Map<string, WatchNode>;
  elements: WatchNode | null;
  watched: WatchedPath | null;
}

interface Capture {
  readonly watched: WatchedPath;
  readonly indexes: readonly number[];
  readonly start: number;
  readonly parts: Buffer[];
  keptBytes: number;
  /** Where it begins in the current piece. */
  from: number;
  /** The depth at which its value stands. */
  readonly depth: number;
}

/** What the next byte may be. */
const value = 0;
const valueOrClose = 1;
const keyOrClose = 2;
const key = 3;
const afterKey = 4;
const afterValue = 5;
const inString = 6;
const inKey = 7;
const inNumber = 8;
const inLiteral = 9;

/** Inside of numbers: what was read last. */
const minus = 0;
const zero = 1;
const digits = 2;
const point = 3;
const fraction = 4;
const exponent = 5;
const exponentSign = 6;
const exponentDigits = 7;

const literals = new Map([
  [0x74, 'true'],
  [0x66, 'false'],
  [0x6e, 'null'],
]);

/**
 * Reads a JSON body piece by piece as it arrives, and finds a few values in it. Keeps nothing else, so a body may be
 * larger than the memory. Accepts exactly what `JSON.parse` accepts, and also control characters in strings: searching
 * long strings for them costs more than all the rest.
 */
export class PieceScan {
  readonly #foundValues: FoundValue[] = [];
  readonly #captures: Capture[] = [];
  /** The open bracket at each depth, from 1. */
  readonly #open = new Uint8Array(maxDepth + 1);
  readonly #nodes: (WatchNode | null)[] = [];
  readonly #indexes: number[] = [];
  #depth = 0;
  #state = value;
  /** What is watched at the value that comes next. */
  #node: WatchNode | null;
  /** Bytes of the pieces before the current one. */
  #before = 0;
  /** Inside of an escape: 0 outside, 1 before its letter, 2 to 5 by the hexadecimal digits that are missing. */
  #escape = 0;
  #number = minus;
  #literal = '';
  #key = '';
  #keyLength = 0;

  constructor(watched: readonly WatchedPath[]) {
    const root = newNode();
    for (const each of watched) nodeAt(root, each.path).watched = each;
    this.#node = root;
  }

  /** Bytes read. */
  get length(): number {
    return this.#before;
  }

  /** @throws MalformedJson. The scan is of no use afterwards. */
  add(piece: Buffer): void {
    for (const capture of this.#captures) capture.from = 0;
    let at = 0;
    while (at < piece.length) at = this.#step(piece, at);
    for (const capture of this.#captures) keep(capture, piece, piece.length);
    this.#before += piece.length;
  }

  /**
   * All watched values, in the order in which they end.
   * @throws MalformedJson if the body is not over.
   */
  end(): readonly FoundValue[] {
    if (this.#state === inNumber) this.#endNumber(Buffer.alloc(0), 0);
    if (this.#depth > 0 || this.#state !== afterValue) throw new MalformedJson('it ends too early');
    return this.#foundValues;
  }

  /** Reads from `at`, and returns where to go on. */
  #step(piece: Buffer, at: number): number {
    switch (this.#state) {
      case inString:
      case inKey:
        return this.#readString(piece, at);
      case inNumber:
        return this.#readNumber(piece, at);
      case inLiteral:
        return this.#readLiteral(piece, at);
      default:
    }
    const byte = piece[at]!;
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return at + 1;
    switch (this.#state) {
      case valueOrClose:
        if (byte === closeBracket) return this.#close(piece, at);
        return this.#begin(piece, at, byte);
      case value:
        return this.#begin(piece, at, byte);
      case keyOrClose:
        if (byte === closeBrace) return this.#close(piece, at);
        return this.#beginKey(byte, at);
      case key:
        return this.#beginKey(byte, at);
      case afterKey:
        if (byte !== colon) throw new MalformedJson('no colon');
        this.#state = value;
        return at + 1;
      default:
        return this.#next(piece, at, byte);
    }
  }

  #begin(piece: Buffer, at: number, byte: number): number {
    const watched = this.#node?.watched;
    if (watched !== null && watched !== undefined) this.#capture(watched, at);
    if (byte === quote) {
      this.#state = inString;
      return at + 1;
    }
    if (byte === openBrace || byte === openBracket) {
      this.#depth += 1;
      if (this.#depth > maxDepth) throw new MalformedJson('nested too deeply');
      this.#open[this.#depth] = byte;
      this.#nodes[this.#depth] = this.#node;
      this.#indexes[this.#depth] = 0;
      if (byte === openBracket) {
        this.#node = this.#node?.elements ?? null;
        this.#state = valueOrClose;
      } else this.#state = keyOrClose;
      return at + 1;
    }
    const literal = literals.get(byte);
    if (literal !== undefined) {
      this.#literal = literal.slice(1);
      this.#state = inLiteral;
      return at + 1;
    }
    this.#state = inNumber;
    this.#number = -1;
    return this.#readNumber(piece, at);
  }

  #beginKey(byte: number, at: number): number {
    if (byte !== quote) throw new MalformedJson('no key');
    this.#state = inKey;
    this.#key = '';
    this.#keyLength = 0;
    return at + 1;
  }

  #next(piece: Buffer, at: number, byte: number): number {
    const open = this.#open[this.#depth];
    if (this.#depth === 0) throw new MalformedJson('more than one value');
    if (byte === comma) {
      if (open === openBracket) {
        this.#indexes[this.#depth]! += 1;
        this.#node = this.#nodes[this.#depth]?.elements ?? null;
        this.#state = value;
      } else this.#state = key;
      return at + 1;
    }
    // In ASCII a closing bracket is its opening one plus 2.
    if (byte !== open! + 2) throw new MalformedJson('no comma');
    return this.#close(piece, at);
  }

  #close(piece: Buffer, at: number): number {
    this.#depth -= 1;
    return this.#endValue(piece, at + 1);
  }

  #endValue(piece: Buffer, end: number): number {
    this.#state = afterValue;
    const last = this.#captures.at(-1);
    if (last?.depth === this.#depth) {
      this.#captures.pop();
      keep(last, piece, end);
      const { watched, indexes, start, parts } = last;
      const text = Buffer.concat(parts);
      this.#foundValues.push({ watched, indexes, start, end: this.#before + end, text });
      if (this.#foundValues.length > mostFound) throw new MalformedJson('too many values');
    }
    return end;
  }

  #capture(watched: WatchedPath, at: number): void {
    const indexes: number[] = [];
    for (let depth = 1; depth <= this.#depth; depth += 1) {
      if (this.#open[depth] === openBracket) indexes.push(this.#indexes[depth]!);
    }
    const start = this.#before + at;
    this.#captures.push({
      watched,
      indexes,
      start,
      parts: [],
      keptBytes: 0,
      from: at,
      depth: this.#depth,
    });
  }

  #readString(piece: Buffer, from: number): number {
    let at = from;
    if (this.#escape > 0) at = this.#readEscape(piece, at);
    let until = -1;
    while (at < piece.length) {
      // Searched again only behind a quote that was escaped: a string of escapes alone would take quadratic time.
      if (until < at) {
        const foundAt = piece.indexOf(quote, at);
        until = foundAt < 0 ? piece.length : foundAt;
      }
      const escape = indexBefore(piece, backslash, at, until);
      if (escape >= 0) {
        this.#addKey(piece, at, escape + 1);
        this.#escape = 1;
        at = this.#readEscape(piece, escape + 1);
        continue;
      }
      this.#addKey(piece, at, until);
      if (until === piece.length) return until;
      if (this.#state === inString) return this.#endValue(piece, until + 1);
      this.#endKey();
      return until + 1;
    }
    return at;
  }

  #readEscape(piece: Buffer, from: number): number {
    let at = from;
    while (at < piece.length && this.#escape > 0) {
      this.#escape = afterEscaped(piece[at]!, this.#escape);
      if (this.#escape < 0) throw new MalformedJson('an unknown escape');
      at += 1;
    }
    this.#addKey(piece, from, at);
    return at;
  }

  /** Keys are kept where something is watched below them. */
  #addKey(piece: Buffer, from: number, to: number): void {
    if (this.#state !== inKey || from === to) return;
    const node = this.#nodes[this.#depth];
    if (node === null || node === undefined || node.members.size === 0) return;
    this.#keyLength += to - from;
    if (this.#keyLength <= longestKey) this.#key += piece.toString('latin1', from, to);
  }

  #endKey(): void {
    const node = this.#nodes[this.#depth] ?? null;
    this.#state = afterKey;
    this.#node = null;
    if (node === null || node.members.size === 0 || this.#keyLength > longestKey) return;
    this.#node = node.members.get(textOf(this.#key)) ?? null;
  }

  #readNumber(piece: Buffer, from: number): number {
    let at = from;
    while (at < piece.length) {
      const next = nextInNumber(this.#number, piece[at]!);
      if (next < 0) return this.#endNumber(piece, at);
      this.#number = next;
      at += 1;
    }
    return at;
  }

  #endNumber(piece: Buffer, at: number): number {
    const isWhole =
      this.#number === zero ||
      this.#number === digits ||
      this.#number === fraction ||
      this.#number === exponentDigits;
    if (!isWhole) throw new MalformedJson('not a value');
    return this.#endValue(piece, at);
  }

  #readLiteral(piece: Buffer, from: number): number {
    let at = from;
    while (at < piece.length && this.#literal !== '') {
      if (piece[at] !== this.#literal.charCodeAt(0)) throw new MalformedJson('not a value');
      this.#literal = this.#literal.slice(1);
      at += 1;
    }
    return this.#literal === '' ? this.#endValue(piece, at) : at;
  }
}

function newNode(): WatchNode {
  return { members: new Map(), elements: null, watched: null };
}

function nodeAt(root: WatchNode, path: readonly string[]): WatchNode {
  let node = root;
  for (const name of path) {
    if (name === '*') {
      node.elements ??= newNode();
      node = node.elements;
      continue;
    }
    let next = node.members.get(name);
    if (next === undefined) {
      next = newNode();
      node.members.set(name, next);
    }
    node = next;
  }
  return node;
}

/** Copies what the current piece has of a value; pieces are not kept for it. */
function keep(capture: Capture, piece: Buffer, end: number): void {
  const room = capture.watched.keep - capture.keptBytes;
  const length = Math.min(end - capture.from, room);
  if (length <= 0) return;
  capture.parts.push(Buffer.from(piece.subarray(capture.from, capture.from + length)));
  capture.keptBytes += length;
}

/** Strings without any escape are the rule, long ones above all: those are searched once for both. */
function indexBefore(piece: Buffer, byte: number, from: number, until: number): number {
  if (until - from < 64) {
    for (let at = from; at < until; at += 1) if (piece[at] === byte) return at;
    return -1;
  }
  const at = piece.subarray(from, until).indexOf(byte);
  return at < 0 ? -1 : from + at;
}

/** The bytes of a key, one per character, as the text that they mean. */
function textOf(key: string): string {
  const text = Buffer.from(key, 'latin1').toString('utf8');
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** The state of a number after another byte; negative if the byte is not part of it. */
function nextInNumber(state: number, byte: number): number {
  const isDigit = byte >= 0x30 && byte <= 0x39;
  switch (state) {
    case -1:
      if (byte === 0x2d) return minus;
      if (byte === 0x30) return zero;
      return isDigit ? digits : -1;
    case minus:
      if (byte === 0x30) return zero;
      return isDigit ? digits : -1;
    case digits:
      if (isDigit) return digits;
      return afterInteger(byte);
    case zero:
      return afterInteger(byte);
    case point:
      return isDigit ? fraction : -1;
    case fraction:
      if (isDigit) return fraction;
      return isExponent(byte) ? exponent : -1;
    case exponent:
      if (byte === 0x2b || byte === 0x2d) return exponentSign;
      return isDigit ? exponentDigits : -1;
    default:
      return isDigit ? exponentDigits : -1;
  }
}

function afterInteger(byte: number): number {
  if (byte === 0x2e) return point;
  return isExponent(byte) ? exponent : -1;
}

function isExponent(byte: number): boolean {
  return byte === 0x65 || byte === 0x45;
}
