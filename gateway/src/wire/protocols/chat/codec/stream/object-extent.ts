const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);
const brace = 0x7b;
const space = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Finds the end of a JSON object that comes in pieces, without keeping or parsing it, by counting brackets outside of
 * strings. Reads each character once, so that asking after every piece adds no cost.
 */
export class ObjectExtent {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #isClosed = false;
  /** The text is not an object, or something follows the object. */
  #isOther = false;

  /** The text is one complete object, with white space around it at most. */
  get isWhole(): boolean {
    return this.#isClosed && !this.#isOther;
  }

  push(text: string): void {
    for (let at = 0; at < text.length && !this.#isOther; at += 1)
      this.#character(text.charCodeAt(at));
  }

  #character(code: number): void {
    if (this.#inString) this.#within(code);
    else if (code === quote && this.#depth > 0) this.#inString = true;
    else if (opening.has(code)) this.#open(code);
    else if (closing.has(code)) this.#close();
    else if (this.#depth === 0 && !space.has(code)) this.#isOther = true;
  }

  #within(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === backslash) this.#isEscaped = true;
    else if (code === quote) this.#inString = false;
  }

  #open(code: number): void {
    if (this.#depth === 0 && (this.#isClosed || code !== brace)) this.#isOther = true;
    this.#depth += 1;
  }

  #close(): void {
    this.#depth -= 1;
    if (this.#depth === 0) this.#isClosed = true;
    else if (this.#depth < 0) this.#isOther = true;
  }
}
