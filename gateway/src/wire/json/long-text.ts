import { isUtf8 } from 'node:buffer';
import { GatewayError } from '#errors/index.ts';
import { type Budget, draw, openBudget } from './budget.ts';
import { isStringText } from './outline.ts';
import type { ParseRoom } from './scan.ts';
import {
  closeBrace,
  closeBracket,
  colon,
  comma,
  maxDepth,
  openBrace,
  openBracket,
  quote,
  skipSpace,
  skipString,
} from './skip.ts';

/**
 * A string of a JSON body that is too long to become a JavaScript string: megabytes of Base64. `Buffer` pieces stand
 * between the quotes of the JSON as they are; texts are escaped when they are written.
 */
export class LongText {
  readonly pieces: readonly (string | Buffer)[];

  constructor(...pieces: readonly (string | Buffer)[]) {
    this.pieces = pieces;
  }
}

/** The bytes of a JSON value that may contain long texts. Their bytes are copied once. */
export function writeJson(value: unknown): Buffer {
  return Buffer.concat(writeJsonPieces(value));
}

/** The same in pieces: the bytes of long texts are not copied. */
export function writeJsonPieces(value: unknown): Buffer[] {
  const chunks: Buffer[] = [];
  let text = '';
  const bytes = (chunk: Buffer): void => {
    chunks.push(Buffer.from(text), chunk);
    text = '';
  };
  const write = (item: unknown): void => {
    if (item instanceof LongText) {
      text += '"';
      for (const piece of item.pieces) {
        if (typeof piece === 'string') text += JSON.stringify(piece).slice(1, -1);
        else bytes(piece);
      }
      text += '"';
    } else if (Array.isArray(item)) {
      text += '[';
      for (const [index, element] of item.entries()) {
        if (index > 0) text += ',';
        write(element);
      }
      text += ']';
    } else if (typeof item === 'object' && item !== null) {
      text += '{';
      let separator = '';
      for (const [key, member] of Object.entries(item)) {
        if (member === undefined) continue;
        text += `${separator}${JSON.stringify(key)}:`;
        separator = ',';
        write(member);
      }
      text += '}';
    } else text += JSON.stringify(item) ?? 'null';
  };
  write(value);
  chunks.push(Buffer.from(text));
  return chunks;
}

/** Strings of at least this many bytes stay bytes. */
const longFrom = 4096;

/** What is not in long strings is parsed at once, so that is bounded. */
const mostParsed = 2 * 1024 * 1024;

/** A key that stands for a long string while the rest is parsed. A client that writes it names its own strings. */
const mark = '\u0000';

/**
 * Parses a JSON object of any size without its long strings: each becomes a {@link LongText}, a slice of the body, and
 * only its end is looked for. So a body of images costs as little as a small one.
 * @throws GatewayError `invalid_body` unless it is a UTF-8 JSON object, `too_complex` if it is nested too deeply, or if
 * more than 2 MiB are not in long strings; and the errors of `room`.
 */
export function parseWithLongTexts(
  body: Buffer,
  room?: ParseRoom,
): Readonly<Record<string, unknown>> {
  if (!isUtf8(body) || body[skipSpace(body, 0)] !== openBrace)
    throw new GatewayError('invalid_body');
  const { rest, texts } = withoutLongTexts(body, room);
  try {
    const object = JSON.parse(rest) as Record<string, unknown>;
    return texts.length === 0 ? object : (putBack(object, texts) as Record<string, unknown>);
  } catch (cause) {
    throw new GatewayError('invalid_body', { cause });
  }
}

interface Shortened {
  /** The body, with `{"\u0000":n}` in place of each long string. */
  readonly rest: string;
  readonly texts: readonly Buffer[];
}

function withoutLongTexts(body: Buffer, room: ParseRoom | undefined): Shortened {
  const budget = openBudget(mostParsed);
  const before = { ...budget };
  const texts: Buffer[] = [];
  const keptPieces: Buffer[] = [];
  let keptLength = 0;
  let from = 0;
  let depth = 0;
  let at = 0;
  while (at < body.length) {
    if (keptLength + at - from > mostParsed) throw new GatewayError('too_complex');
    const byte = body[at]!;
    if (byte !== quote) {
      if (byte === openBrace || byte === openBracket) {
        depth += 1;
        if (depth > maxDepth) throw new GatewayError('too_complex');
      } else if (byte === closeBrace || byte === closeBracket) depth -= 1;
      count(byte, budget);
      at += 1;
      continue;
    }
    const end = skipString(body, at);
    if (end < 0) throw new GatewayError('invalid_body');
    const isLong = end - at >= longFrom && body[skipSpace(body, end)] !== colon;
    if (isLong) {
      if (!isStringText(body, at + 1, end - 1)) throw new GatewayError('invalid_body');
      const stand = Buffer.from(JSON.stringify({ [mark]: texts.length }));
      texts.push(body.subarray(at + 1, end - 1));
      keptPieces.push(body.subarray(from, at), stand);
      keptLength += at - from + stand.length;
      from = end;
    }
    at = end;
  }
  if (keptLength + at - from > mostParsed) throw new GatewayError('too_complex');
  const rest = Buffer.concat([...keptPieces, body.subarray(from)]);
  room?.takeParsed(rest, before.members - budget.members, before.values - budget.values);
  return { rest: rest.toString('utf8'), texts };
}

function count(byte: number, budget: Budget): void {
  if (byte === colon) draw(budget, 'members');
  else if (byte === comma || byte === openBrace || byte === openBracket) draw(budget, 'values');
}

/** As deep as the body, which is bounded. */
function putBack(value: unknown, texts: readonly Buffer[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const object = value as Record<string, unknown>;
  const text = textFor(object, texts);
  if (text !== null) return text;
  for (const [key, member] of Object.entries(object)) {
    if (typeof member === 'object' && member !== null) object[key] = putBack(member, texts);
  }
  return object;
}

function textFor(object: Record<string, unknown>, texts: readonly Buffer[]): LongText | null {
  const index = object[mark];
  const bytes = typeof index === 'number' ? texts[index] : undefined;
  return bytes === undefined ? null : new LongText(bytes);
}
