/**
 * Maximum number of pieces of a body, however small: a piece of one byte takes some 4 µs, during which nobody else is
 * served.
 */
const mostPieces = 4_096;
/** Beyond that number, the pieces must have at least this average size in bytes. */
const smallestPiece = 64;

/** Detects a body that is split into more pieces than any client has reason to send. */
export class PieceCount {
  #pieces = 0;
  #bytes = 0;

  /** @returns whether there are too many */
  add(piece: Buffer): boolean {
    this.#pieces += 1;
    this.#bytes += piece.length;
    return this.#pieces > mostPieces + this.#bytes / smallestPiece;
  }
}
