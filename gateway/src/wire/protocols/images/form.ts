import { type Range, Utf8Check } from '#json/index.ts';
import { broken, readPartHeaders } from './part-headers.ts';

/** One part of a form. */
export interface FormPart {
  readonly name: string;
  /** The part says that it is a file. */
  readonly isFile: boolean;
  /** What the part holds, in the body. */
  readonly content: Range;
  /** Its first bytes. */
  readonly start: Buffer;
  /** Whether it is a text. Unknown of files. */
  readonly isUtf8: boolean;
}

/** In bytes: what is kept of each part. */
export const longestText = 8 * 1024;

/** Far more than a request for images has. */
const mostParts = 256;
/** In bytes, of one part. A file's name is part of them. */
const longestHeaders = 16 * 1024;

const lineEnd = Buffer.from('\r\n');
const headersEnd = Buffer.from('\r\n\r\n');
const close = Buffer.from('--');
const nothing = Buffer.alloc(0);

/** A part whose content is being read. */
interface OpenPart extends Pick<FormPart, 'name' | 'isFile'> {
  /** Where its content begins in the body. */
  from: number;
  readonly keptPieces: Buffer[];
  keptBytes: number;
  readonly utf8: Utf8Check | null;
}

/**
 * The parts of a form (RFC 7578), in their order.
 * @throws GatewayError `invalid_value`, with what is wrong
 */
export function readForm(body: Buffer, boundary: string): readonly FormPart[] {
  const form = new FormReader(boundary);
  form.add(body);
  return form.end();
}

/**
 * Reads a form piece by piece as it arrives. Strict, because an upstream must not read the same bytes in another way:
 * nothing stands before, between or after the parts, and the boundary stands nowhere else.
 */
export class FormReader {
  /** Bytes of the body so far. */
  length = 0;
  readonly #delimiter: Buffer;
  readonly #parts: FormPart[] = [];
  #state: 'begin' | 'boundary' | 'headers' | 'content' | 'over' = 'begin';
  /** The part whose content is being read. */
  #part: OpenPart | null = null;
  /** The last bytes, which cannot be judged without the next ones. */
  #rest = nothing;
  #failure: Error | null = null;

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`--${boundary}`);
  }

  add(piece: Buffer): void {
    if (this.#failure !== null) return;
    try {
      this.#read(piece);
    } catch (error) {
      this.#failure = error as Error;
    }
    this.length += piece.length;
  }

  /** Bytes of memory. */
  get memoryBytes(): number {
    return this.#parts.reduce((sum, { start }) => sum + start.length, longestHeaders);
  }

  /** @throws GatewayError `invalid_value` */
  end(): readonly FormPart[] {
    if (this.#failure !== null) throw this.#failure;
    if (this.#state === 'over') {
      if (this.#rest.length > 0 && !this.#rest.equals(lineEnd)) throw followed();
      return this.#parts;
    }
    if (this.#state === 'begin') throw notBegun();
    throw broken('the form is truncated');
  }

  #read(piece: Buffer): void {
    let at = 0;
    while (at < piece.length) {
      at = this.#state === 'content' ? this.#readContent(piece, at) : this.#readShort(piece, at);
    }
  }

  /** Everything outside of contents is short, and put together before it is read. */
  #readShort(piece: Buffer, from: number): number {
    const before = this.#rest.length;
    const room = longestHeaders + this.#delimiter.length;
    const bytes = Buffer.concat([this.#rest, piece.subarray(from, from + room)]);
    const read = this.#step(bytes);
    if (read === null) {
      this.#rest = bytes;
      return from + bytes.length - before;
    }
    this.#rest = nothing;
    // What was left over before was not enough, so reading ends beyond it.
    const next = from + read - before;
    if (this.#part !== null) this.#part.from = this.length + next;
    return next;
  }

  /** How many bytes could be read; null: there are not enough. */
  #step(bytes: Buffer): number | null {
    const delimiter = this.#delimiter;
    switch (this.#state) {
      case 'begin':
        if (!beginsAlike(bytes, delimiter)) throw notBegun();
        if (bytes.length < delimiter.length) return null;
        this.#state = 'boundary';
        return delimiter.length;
      case 'boundary':
        if (bytes.length < 2) return null;
        if (beginsAlike(bytes, close)) this.#state = 'over';
        else if (beginsAlike(bytes, lineEnd)) this.#state = 'headers';
        else throw broken('a boundary of the form is followed by other text');
        if (this.#state === 'headers' && this.#parts.length === mostParts) {
          throw broken('the form has too many parts');
        }
        return 2;
      case 'headers':
        return this.#readHeaders(bytes);
      default:
        if (bytes.length > lineEnd.length || !beginsAlike(bytes, lineEnd)) throw followed();
        return null;
    }
  }

  #readHeaders(bytes: Buffer): number | null {
    const end = bytes.subarray(0, longestHeaders).indexOf(headersEnd);
    const mark = bytes.indexOf(this.#delimiter);
    if (mark >= 0 && (end < 0 || mark < end)) {
      const isLine = mark >= 2 && bytes.subarray(mark - 2, mark).equals(lineEnd);
      throw isLine ? headersOpen() : within();
    }
    if (end < 0) {
      if (bytes.length >= longestHeaders) throw headersOpen();
      return null;
    }
    const { name, isFile } = readPartHeaders(bytes.subarray(0, end));
    const utf8 = isFile ? null : new Utf8Check();
    this.#part = { name, isFile, from: 0, keptPieces: [], keptBytes: 0, utf8 };
    this.#state = 'content';
    return end + headersEnd.length;
  }

  /** Reads from `at`, and returns where to go on. */
  #readContent(piece: Buffer, at: number): number {
    const delimiter = this.#delimiter;
    const rest = this.#rest;
    // A boundary may begin in one piece and end in the next.
    const seam = Buffer.concat([rest, piece.subarray(at, at + delimiter.length - 1)]);
    const inSeam = rest.length === 0 ? -1 : seam.indexOf(delimiter);
    const inPiece = inSeam < 0 ? piece.indexOf(delimiter, at) : -1;
    if (inSeam < 0 && inPiece < 0) return this.#holdBack(piece, at);
    const foundAt = inSeam < 0 ? inPiece : at + inSeam - rest.length;
    const before = joined(rest, piece, at, foundAt);
    this.#endPart(before, foundAt);
    return foundAt + delimiter.length;
  }

  /** The end of a piece may be the beginning of a boundary, or the line end before it. */
  #holdBack(piece: Buffer, at: number): number {
    const most = this.#delimiter.length + 1;
    const rest = this.#rest;
    if (piece.length - at >= most) {
      this.#take(rest);
      this.#take(piece.subarray(at, piece.length - most));
      this.#rest = Buffer.from(piece.subarray(piece.length - most));
    } else {
      const all = Buffer.concat([rest, piece.subarray(at)]);
      const end = Math.max(0, all.length - most);
      this.#take(all.subarray(0, end));
      this.#rest = all.subarray(end);
    }
    return piece.length;
  }

  /**
   * @param before what of the content comes before the boundary, and has not been taken
   * @param foundAt where the boundary begins in the piece; negative: before it
   */
  #endPart(before: readonly Buffer[], foundAt: number): void {
    const part = this.#part!;
    const { from, name, isFile, keptPieces, utf8 } = part;
    const end = this.length + foundAt - lineEnd.length;
    const last = Buffer.concat(before.map((bytes) => bytes.subarray(-2))).subarray(-2);
    if (end === from - lineEnd.length) throw headersOpen();
    if (end < from || !last.equals(lineEnd)) throw within();
    let missing = before.reduce((sum, { length }) => sum + length, 0) - lineEnd.length;
    for (const bytes of before) {
      this.#take(bytes.subarray(0, Math.max(0, missing)));
      missing -= bytes.length;
    }
    const isUtf8 = utf8?.isWhole ?? false;
    const content = { start: from, end };
    this.#parts.push({ name, isFile, content, start: Buffer.concat(keptPieces), isUtf8 });
    this.#part = null;
    this.#rest = nothing;
    this.#state = 'boundary';
  }

  #take(bytes: Buffer): void {
    const part = this.#part!;
    part.utf8?.add(bytes);
    const room = longestText - part.keptBytes;
    if (room <= 0 || bytes.length === 0) return;
    // A copy, because a piece may be used again.
    const own = Buffer.from(bytes.subarray(0, room));
    part.keptPieces.push(own);
    part.keptBytes += own.length;
  }
}

/** The bytes before `end`, which may lie before the piece. */
function joined(rest: Buffer, piece: Buffer, at: number, end: number): readonly Buffer[] {
  if (end < at) return [rest.subarray(0, rest.length + end - at)];
  return [rest, piece.subarray(at, end)];
}

/** Whether the bytes begin with the mark, as far as there are any. */
function beginsAlike(bytes: Buffer, mark: Buffer): boolean {
  const length = Math.min(bytes.length, mark.length);
  return bytes.compare(mark, 0, length, 0, length) === 0;
}

const notBegun = () => broken('the form does not begin with its boundary');
const followed = () => broken('the form is followed by other text');
const within = () => broken('the boundary stands within a part of the form');
const headersOpen = () => broken('a part of the form has no end of its headers');
