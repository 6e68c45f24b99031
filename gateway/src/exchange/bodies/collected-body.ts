import { setImmediate as nextTurn } from 'node:timers/promises';

/** A smaller piece costs about as much to keep as it contains. */
const smallPiece = 2 * 1024;
/** Most bodies arrive in fewer pieces, which are kept as they are. */
const keptPieces = 16;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const slabSize = 64 * 1024;

/** @param bytes begin with the first byte of the mark */
function withoutMark(bytes: Buffer): Buffer {
  const begin = bytes.subarray(0, byteOrderMark.length);
  return begin.equals(byteOrderMark) ? bytes.subarray(byteOrderMark.length) : bytes;
}

/**
 * A body that is read to its end before it is used. Takes little more memory than the body has bytes, however the
 * sender has split it.
 */
export class CollectedBody {
  /** Bytes received. */
  length = 0;
  readonly #pieces: Buffer[] = [];
  /** Small pieces, copied one after another into `#slab[0..#filled)`. */
  #slab: Buffer | null = null;
  #slabBytes = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    const fits = this.#slab !== null && this.#slabBytes + piece.length <= slabSize;
    if ((piece.length >= smallPiece && !fits) || this.#pieces.length < keptPieces) {
      this.#closeSlab();
      this.#pieces.push(piece);
      return;
    }
    if (this.#slabBytes + piece.length > slabSize) this.#closeSlab();
    this.#slab ??= Buffer.allocUnsafeSlow(slabSize);
    this.#slabBytes += piece.copy(this.#slab, this.#slabBytes);
  }

  /** All bytes, in order. */
  pieces(): readonly Buffer[] {
    this.#closeSlab();
    return this.#pieces;
  }

  /** The whole body in one piece. */
  bytes(): Buffer {
    this.#closeSlab();
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.length);
  }

  /** The same without a byte order mark, which is not part of JSON and must not be sent (RFC 8259, 8.1). */
  whole(): Buffer {
    const bytes = this.bytes();
    return bytes[0] === byteOrderMark[0] ? withoutMark(bytes) : bytes;
  }

  /** The same as `whole`, copied in turns, so that no other request waits for a body of megabytes. */
  async wholeInTurns(): Promise<Buffer> {
    return withoutMark(await joinInTurns(this.pieces()));
  }

  #closeSlab(): void {
    if (this.#slab === null) return;
    this.#pieces.push(this.#slab.subarray(0, this.#slabBytes));
    this.#slab = null;
    this.#slabBytes = 0;
  }
}

/** In bytes: copying so many takes a millisecond or two. */
export const turnBytes = 4 * 1024 * 1024;

/**
 * The pieces as one body; a single piece is the body itself. They are made and copied in turns, since images may hold
 * up other requests for long.
 */
export async function joinInTurns(pieces: Iterable<Buffer>): Promise<Buffer> {
  const copiedPieces: Buffer[] = [];
  let length = 0;
  let nextTurnAt = turnBytes;
  for (const piece of pieces) {
    copiedPieces.push(piece);
    length += piece.length;
    if (length < nextTurnAt) continue;
    nextTurnAt = length + turnBytes;
    await nextTurn();
  }
  const [only] = copiedPieces;
  if (only !== undefined && copiedPieces.length === 1) return only;
  const joinedBody = Buffer.allocUnsafeSlow(length);
  let at = 0;
  nextTurnAt = turnBytes;
  for (const piece of copiedPieces) {
    for (let from = 0; from < piece.length; from += turnBytes) {
      at += piece.copy(joinedBody, at, from, from + turnBytes);
      if (at < nextTurnAt) continue;
      nextTurnAt = at + turnBytes;
      await nextTurn();
    }
  }
  return joinedBody;
}
