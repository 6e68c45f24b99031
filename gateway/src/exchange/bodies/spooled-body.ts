import { open, unlink, type FileHandle } from 'node:fs/promises';
import { CollectedBody } from './collected-body.ts';

export interface SpooledBodyOptions {
  /** The path of a file if one is needed; its name is removed at once. */
  readonly newFile: () => string;
  /** Whether there is memory for this many more bytes. */
  readonly keep: (bytes: number) => boolean;
  /** Whether there is room for this many more bytes in files. */
  readonly grow: (bytes: number) => boolean;
  /** Gives back what `keep` took. */
  readonly forget: (bytes: number) => void;
  /** Called if the file cannot be written. */
  readonly onFailure: (error: Error) => void;
}

/** Other bytes in place of those from `start` to `end` (exclusive). */
export interface BodyEdit {
  readonly start: number;
  readonly end: number;
  readonly bytes: Buffer;
}

/** A body that is sent in pieces. */
export interface BodyPieces {
  readonly length: number;
  /** All bytes from the first one. A piece is valid until the next one is asked for. */
  read(): AsyncIterable<Buffer>;
}

/** There is no room for the rest of a body, or its file cannot be written. */
export class SpoolFailure extends Error {
  override readonly name = 'SpoolFailure';
}

/** Bytes of each body that are kept in memory even if there is no room: small bodies have no file. */
const smallBody = 64 * 1024;
/** Bytes that may wait to be written before the sender should pause, and of which it may continue. */
const mostWaiting = 256 * 1024;
const resumeBelow = 64 * 1024;
/** Bytes that are read at once. */
const readBytes = 128 * 1024;
/** The most pieces in one call of the system. */
const mostPieces = 256;

/** A body that is kept whole until it is used: in memory as long as there is room, the rest in a file. */
export class SpooledBody {
  /** Bytes received. */
  length = 0;
  /** Called when `add` has returned false and more may come. */
  onDrain: () => void = () => {};
  readonly #options: SpooledBodyOptions;
  #head = new CollectedBody();
  /** Not written yet. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** Bytes in the file. */
  #writtenBytes = 0;
  #isPaused = false;
  #file: FileHandle | null = null;
  #failure: SpoolFailure | null = null;
  #writing: Promise<void> | null = null;
  #isReleased = false;
  /** The rest of the body is in a file, however small. */
  #hasFile = false;
  /** Bytes that `keep` has granted. */
  #memoryBytes = 0;

  constructor(options: SpooledBodyOptions) {
    this.#options = options;
  }

  /**
   * Takes the next bytes. False: pause the sender until `onDrain`.
   * A body for which there is no room fails in `seal`.
   */
  add(piece: Buffer): boolean {
    this.length += piece.length;
    if (this.#failure !== null || this.#isReleased) return true;
    if (!this.#hasFile && this.#isKept(piece.length)) {
      this.#head.add(piece);
      return true;
    }
    this.#hasFile = true;
    if (!this.#options.grow(piece.length)) {
      this.#fail(new SpoolFailure('there is no room'));
      return true;
    }
    this.#waiting.push(piece);
    this.#waitingBytes += piece.length;
    this.#writing ??= this.#write();
    this.#isPaused = this.#waitingBytes > mostWaiting;
    return !this.#isPaused;
  }

  /**
   * Waits until everything is stored.
   * @throws SpoolFailure
   */
  async seal(): Promise<void> {
    await this.#writing;
    if (this.#failure !== null) throw this.#failure;
  }

  /** Why there is no room for what was added; null: there is. */
  get failure(): SpoolFailure | null {
    return this.#failure;
  }

  /** A sealed body with other bytes at some places, as `read` gives it. Edits must not overlap. */
  edited(edits: readonly BodyEdit[]): BodyPieces {
    const sortedEdits = edits.toSorted((a, b) => a.start - b.start);
    const addedBytes = sortedEdits.reduce(
      (sum, { start, end, bytes }) => sum + bytes.length - end + start,
      0,
    );
    return { length: this.length + addedBytes, read: () => this.#readEdited(sortedEdits) };
  }

  async *#readEdited(edits: readonly BodyEdit[]): AsyncGenerator<Buffer, void> {
    let from = 0;
    for (const { start, end, bytes } of edits) {
      yield* this.read(from, start);
      yield bytes;
      from = end;
    }
    yield* this.read(from);
  }

  /**
   * The bytes from `start` to `end` (exclusive) of a sealed body, in pieces. A piece is valid until the next one is
   * asked for: the memory is used again.
   * @throws SpoolFailure
   */
  async *read(start = 0, end = this.length): AsyncGenerator<Buffer, void> {
    let before = 0;
    for (const piece of this.#head.pieces()) {
      const from = Math.max(start - before, 0);
      const to = Math.min(end - before, piece.length);
      if (from < to) yield piece.subarray(from, to);
      before += piece.length;
    }
    let at = Math.max(start, before);
    if (at >= end) return;
    const buffer = Buffer.allocUnsafeSlow(Math.min(readBytes, end - at));
    while (at < end) {
      const file = this.#file;
      if (file === null) throw new SpoolFailure('the body is gone');
      const piece = buffer.subarray(0, Math.min(buffer.length, end - at));
      await readFully(file, piece, at - before);
      at += piece.length;
      yield piece;
    }
  }

  /** Forgets everything. Idempotent. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#options.forget(this.#memoryBytes);
    this.#head = new CollectedBody();
    this.#waiting = [];
    if (this.#writing === null) this.#close();
  }

  #isKept(bytes: number): boolean {
    if (this.#head.length + bytes <= smallBody) return true;
    if (!this.#options.keep(bytes)) return false;
    this.#memoryBytes += bytes;
    return true;
  }

  #fail(failure: SpoolFailure): void {
    this.#failure ??= failure;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#resume();
  }

  async #write(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        this.#file ??= await openNameless(this.#options.newFile());
        const pieces = this.#waiting.splice(0, mostPieces);
        const writtenBytes = await writeAll(this.#file, pieces, this.#writtenBytes);
        this.#writtenBytes += writtenBytes;
        if (this.#failure === null) this.#waitingBytes -= writtenBytes;
        if (this.#waitingBytes < resumeBelow) this.#resume();
      }
    } catch (cause) {
      this.#options.onFailure(cause as Error);
      this.#fail(new SpoolFailure('the file cannot be written', { cause }));
    }
    this.#writing = null;
    if (this.#isReleased) this.#close();
  }

  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.onDrain();
  }

  #close(): void {
    const file = this.#file;
    this.#file = null;
    // Nothing can be done about a file that does not close, and its contents are not needed.
    void file?.close().catch(() => undefined);
  }
}

/** A full piece makes its receiver wait until it is used; only then may its memory be used again. */
async function readFully(file: FileHandle, piece: Buffer, from: number): Promise<void> {
  let at = 0;
  while (at < piece.length) {
    const { bytesRead } = await file.read(piece, at, piece.length - at, from + at);
    if (bytesRead === 0) throw new SpoolFailure('the file is too short');
    at += bytesRead;
  }
}

async function openNameless(name: string): Promise<FileHandle> {
  const file = await open(name, 'wx+', 0o600);
  try {
    await unlink(name);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

/** The system may write less than it was given. @returns bytes */
async function writeAll(file: FileHandle, pieces: Buffer[], from: number): Promise<number> {
  let rest = pieces;
  let at = from;
  while (rest.length > 0) {
    let { bytesWritten } = await file.writev(rest, at);
    at += bytesWritten;
    const restPieces: Buffer[] = [];
    for (const piece of rest) {
      const writtenLength = Math.min(bytesWritten, piece.length);
      bytesWritten -= writtenLength;
      if (writtenLength < piece.length) restPieces.push(piece.subarray(writtenLength));
    }
    rest = restPieces;
  }
  return at - from;
}
