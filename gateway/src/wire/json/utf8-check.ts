import { isUtf8 } from 'node:buffer';

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
