const quote = 0x22;
const backslash = 0x5c;
const opening = new Set([0x7b, 0x5b]);
const closing = new Set([0x7d, 0x5d]);
const brace = 0x7b;
const space = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Tells where a JSON object that comes in pieces ends, without keeping or parsing it: brackets outside of strings are
 * counted. Each character is looked at once, so that asking after every piece costs nothing more.
 */
export class ObjectExtent {
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #isClosed = false;
  /** It is no object, or something followed the object. */
  #isOther = false;

  /** What came is one object, with nothing but white space around it. */
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
