/**
 * Pieces that a body may come in, however small: what is cut into chunks of one byte takes some 4 µs for each, and nobody
 * else is served meanwhile.
 */
const mostPieces = 4_096;
/** Bytes that pieces beyond them have on average at least. */
const smallestPiece = 64;

/** Tells when a body comes in more pieces than any client has reason to cut it into. */
export class PieceCount {
  #pieces = 0;
  #bytes = 0;

  /** @returns whether these are too many. */
  add(piece: Buffer): boolean {
    this.#pieces += 1;
    this.#bytes += piece.length;
    return this.#pieces > mostPieces + this.#bytes / smallestPiece;
  }
}
