const status = Buffer.from('HTTP/1.1 100');
/** Of `status`: the minor version, which may be any. */
const minorAt = 7;
/** Of `status`: what tells an interim answer from others. */
const classAt = 9;
const lineEnds = Buffer.from('\r\n\r\n');
const digitTwo = 0x32;

/**
 * Looks for `100 Continue` before an answer, whatever pieces it comes in. Nobody asked for one, yet every client has to
 * pass over it (RFC 9110, 15.2); undici, which passes over all others, breaks the call at this one. It is therefore made
 * a 102, which means as little to whoever has not asked.
 */
export class InterimAnswers {
  /** How much of the status line has been compared; all of it: its head is passed over. */
  #compared = 0;
  /** Of an interim answer's head: how much of its end has come. */
  #ended = 0;

  /** A request begins. */
  reset(): void {
    this.#compared = 0;
    this.#ended = 0;
  }

  /**
   * Takes the next piece and changes it where necessary.
   * @returns true when the answer itself has begun, so that there is nothing more to look for
   */
  rewrite(piece: Buffer): boolean {
    for (let at = 0; at < piece.length; at += 1) {
      const byte = piece[at]!;
      if (this.#compared === status.length) this.#passOver(byte);
      else if (this.#compared < classAt + 1) {
        if (byte !== status[this.#compared] && this.#compared !== minorAt) return true;
        this.#compared += 1;
      } else if (byte !== status[this.#compared]) this.#compared = status.length;
      else {
        this.#compared += 1;
        if (this.#compared === status.length) piece[at] = digitTwo;
      }
    }
    return false;
  }

  #passOver(byte: number): void {
    if (byte === lineEnds[this.#ended]) this.#ended += 1;
    else this.#ended = byte === lineEnds[0] ? 1 : 0;
    if (this.#ended === lineEnds.length) this.reset();
  }
}
