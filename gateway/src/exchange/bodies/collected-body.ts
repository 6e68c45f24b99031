import { joinInTurns } from './join-in-turns.ts';

/** A smaller piece costs about as much to keep as it contains. */
const smallPiece = 2 * 1024;
/** Most bodies arrive in fewer pieces, which are kept as they are. */
const keptPieces = 16;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const slabSize = 64 * 1024;

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
  #filled = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    const fits = this.#slab !== null && this.#filled + piece.length <= slabSize;
    if ((piece.length >= smallPiece && !fits) || this.#pieces.length < keptPieces) {
      this.#closeSlab();
      this.#pieces.push(piece);
      return;
    }
    if (this.#filled + piece.length > slabSize) this.#closeSlab();
    this.#slab ??= Buffer.allocUnsafeSlow(slabSize);
    this.#filled += piece.copy(this.#slab, this.#filled);
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
    return withoutMark(this.bytes());
  }

  /** The same as `whole`, copied in turns, so that nobody waits for a body of megabytes. */
  async wholeInTurns(): Promise<Buffer> {
    return withoutMark(await joinInTurns(this.pieces()));
  }

  #closeSlab(): void {
    if (this.#slab === null) return;
    this.#pieces.push(this.#slab.subarray(0, this.#filled));
    this.#slab = null;
    this.#filled = 0;
  }
}
