/** Bytes between two places that are remembered. */
const stride = 4096;
/** Characters of a text that are looked through for words that are not where they should be. */
const mostSearched = 16_777_216;

/** Finds words in a text by where they are in its UTF-8 bytes. */
export class Utf8Places {
  readonly #text: string;
  readonly #bytes: Buffer;
  /** Of each stride: how many UTF-16 units its bytes' predecessors make. */
  readonly #units: number[] = [0];
  /** Many words that are nowhere would cost as many whole texts. */
  #searchable = mostSearched;

  constructor(text: string) {
    this.#text = text;
    this.#bytes = Buffer.from(text);
  }

  /**
   * @param at the byte where the words should be
   * @returns the UTF-16 unit where they are: there, else where they first come; -1 when they were not found.
   */
  find(words: string, at: number): number {
    const expected = this.#unitOf(at);
    if (this.#text.startsWith(words, expected)) return expected;
    if (this.#searchable <= 0) return -1;
    const found = firstPlace(words, this.#text);
    this.#searchable -= words.length + (found < 0 ? this.#text.length : found);
    return found;
  }

  #unitOf(at: number): number {
    const end = Math.min(Math.max(0, Math.trunc(at)), this.#bytes.length);
    const block = Math.floor(end / stride);
    while (this.#units.length <= block) {
      const known = this.#units.length;
      this.#units.push(this.#units[known - 1]! + this.#count((known - 1) * stride, known * stride));
    }
    return this.#units[block]! + this.#count(block * stride, end);
  }

  /** A unit for each character that begins here, and another one for those of four bytes. */
  #count(from: number, to: number): number {
    let units = 0;
    for (let at = from; at < to; at += 1) {
      const byte = this.#bytes[at]!;
      if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
    }
    return units;
  }
}

/** As `indexOf`, in steps as many as both are long: that of the engine takes their product for `a…ab` in `a…a`. */
function firstPlace(words: string, text: string): number {
  if (words.length > text.length) return -1;
  // How many of the first characters also stand before each place, so that no character of the text is looked at again.
  const borders = new Uint32Array(words.length);
  for (let at = 1, same = 0; at < words.length; at += 1) {
    while (same > 0 && words.charCodeAt(at) !== words.charCodeAt(same)) same = borders[same - 1]!;
    if (words.charCodeAt(at) === words.charCodeAt(same)) same += 1;
    borders[at] = same;
  }
  for (let at = 0, same = 0; at < text.length; at += 1) {
    while (same > 0 && text.charCodeAt(at) !== words.charCodeAt(same)) same = borders[same - 1]!;
    if (text.charCodeAt(at) === words.charCodeAt(same)) same += 1;
    if (same === words.length) return at + 1 - same;
  }
  return -1;
}
