import type { Range } from '#json/index.ts';
import { broken } from './broken-form.ts';
import { readPartHeaders } from './part-headers.ts';

/** One part of a form. */
export interface FormPart {
  readonly name: string;
  /** The part says that it is a file. */
  readonly isFile: boolean;
  /** What the part holds, in the body. */
  readonly content: Range;
}

/** Far more than a request for pictures has. */
const mostParts = 256;
/** In bytes, of one part. A file's name is part of them. */
const longestHeaders = 16 * 1024;

const lineEnd = Buffer.from('\r\n');
const headersEnd = Buffer.from('\r\n\r\n');
const dash = 0x2d;

/**
 * The parts of a form (RFC 7578), in their order. Strict, because an upstream must not read the same bytes in another
 * way: nothing stands before, between or after the parts, and the boundary stands nowhere else.
 * @throws GatewayError `invalid_value`, with what is wrong
 */
export function readForm(body: Buffer, boundary: string): FormPart[] {
  const delimiter = Buffer.from(`--${boundary}`);
  const parts: FormPart[] = [];
  if (!startsAt(body, 0, delimiter)) throw broken('the form does not begin with its boundary');
  let at = delimiter.length;
  while (!isClosed(body, at)) {
    if (body.length < at + lineEnd.length) throw broken('the form is truncated');
    if (!startsAt(body, at, lineEnd))
      throw broken('a boundary of the form is followed by other text');
    if (parts.length === mostParts) throw broken('the form has too many parts');
    const start = at + lineEnd.length;
    const next = body.indexOf(delimiter, start);
    if (next < 0) throw broken('the form is truncated');
    const end = next - lineEnd.length;
    if (end < start || !startsAt(body, end, lineEnd)) {
      throw broken('the boundary stands within a part of the form');
    }
    parts.push(readPart(body, start, end));
    at = next + delimiter.length;
  }
  const rest = body.length - (at + 2);
  const isWhole = rest === 0 || (rest === lineEnd.length && startsAt(body, at + 2, lineEnd));
  if (!isWhole) throw broken('the form is followed by other text');
  return parts;
}

function readPart(body: Buffer, start: number, end: number): FormPart {
  // A part without content has the line end that precedes the next boundary as the end of its headers.
  const within = body.subarray(start, Math.min(end + 2, start + longestHeaders));
  const headers = within.indexOf(headersEnd);
  if (headers < 0) throw broken('a part of the form has no end of its headers');
  const content = start + headers + headersEnd.length;
  if (content > end) throw broken('a part of the form has no end of its headers');
  const { name, isFile } = readPartHeaders(within.subarray(0, headers));
  return { name, isFile, content: { start: content, end } };
}

function isClosed(body: Buffer, at: number): boolean {
  return body[at] === dash && body[at + 1] === dash;
}

function startsAt(body: Buffer, at: number, bytes: Buffer): boolean {
  return (
    body.length >= at + bytes.length &&
    body.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0
  );
}
