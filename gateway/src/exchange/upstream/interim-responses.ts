const status = Buffer.from('HTTP/1.1 100');
/** The position of the minor version in `status`; it may be anything. */
const minorAt = 7;
/** The position of the status class in `status`, which distinguishes interim responses. */
const classAt = 9;
const lineEnds = Buffer.from('\r\n\r\n');
const digitTwo = 0x32;

/**
 * Finds `100 Continue` before a response, however the bytes are split. The gateway never requests it, but every client
 * must skip it (RFC 9110, 15.2). undici skips all other interim responses and breaks the call at this one, so it is
 * rewritten to 102, which is equally meaningless to a client that did not ask.
 */
export class InterimResponses {
  /** How much of the status line has matched; all of it: the head is skipped. */
  #compared = 0;
  /** How much of the end of an interim response's head has arrived. */
  #ended = 0;

  /** Call it when a request begins. */
  reset(): void {
    this.#compared = 0;
    this.#ended = 0;
  }

  /**
   * Takes the next piece and rewrites it where necessary.
   * @returns true once the response itself has begun and nothing more needs to be checked
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
