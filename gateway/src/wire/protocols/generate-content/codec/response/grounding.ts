import type { Citation } from '#canonical/index.ts';
import { isRecord, type JsonRecord, recordAt, recordsIn } from '../../../shared/values.ts';

/**
 * The web pages that support a text by `groundingMetadata`. Its offsets count UTF-8 bytes of a part, and streams do not
 * tell of which part. A segment that is not at its offset is looked up by its words.
 */
export function readGrounding(metadata: unknown, text: string): readonly Citation[] {
  if (!isRecord(metadata)) return [];
  const sources = recordsIn(metadata['groundingChunks']).map(sourceOf);
  const supports = recordsIn(metadata['groundingSupports']);
  if (supports.length === 0) {
    return sources.flatMap((source) =>
      source === null ? [] : { ...source, start: null, end: null },
    );
  }
  const places = new Utf8Places(text);
  return supports.flatMap((support) => {
    const place = placeOf(recordAt(support, 'segment'), places);
    const indices = support['groundingChunkIndices'];
    return (Array.isArray(indices) ? indices : []).flatMap((index: unknown) => {
      const source = typeof index === 'number' ? sources[index] : undefined;
      return source == null ? [] : { ...source, ...place };
    });
  });
}

/**
 * The pages that a text quotes, each once. Omits their offsets, which count bytes of the whole response, reasoning and
 * calls included.
 * @param metadata all `citationMetadata` of the candidate, in order
 */
export function readRecitations(metadata: readonly unknown[]): readonly Citation[] {
  const pages = new Map<string, Citation>();
  for (const one of metadata.filter(isRecord)) {
    for (const { uri: url, title } of recordsIn(one['citationSources'] ?? one['citations'])) {
      if (typeof url !== 'string' || url === '' || pages.has(url)) continue;
      const titleText = typeof title === 'string' && title !== '' ? title : null;
      pages.set(url, { url, title: titleText, start: null, end: null });
    }
  }
  return [...pages.values()];
}

function sourceOf(chunk: JsonRecord): Pick<Citation, 'url' | 'title'> | null {
  const page = isRecord(chunk['web']) ? chunk['web'] : recordAt(chunk, 'retrievedContext');
  const { uri: url, title } = page;
  if (typeof url !== 'string' || url === '') return null;
  return { url, title: typeof title === 'string' ? title : null };
}

function placeOf(segment: JsonRecord, places: Utf8Places): Pick<Citation, 'start' | 'end'> {
  const { startIndex = 0, endIndex, text: words } = segment;
  if (typeof words !== 'string' || words === '') return { start: null, end: null };
  const isPlaced = typeof startIndex === 'number' && typeof endIndex === 'number';
  const start = places.find(words, isPlaced ? startIndex : 0);
  return start < 0 ? { start: null, end: null } : { start, end: start + words.length };
}

/** Bytes between two remembered places. */
const stride = 4096;
/** The most characters to search for words that are not at their offset. */
const mostSearched = 16_777_216;

/** Finds words in a text by their offset in its UTF-8 bytes. */
class Utf8Places {
  readonly #text: string;
  readonly #bytes: Buffer;
  /** For each stride, the number of UTF-16 units before it. */
  readonly #units: number[] = [0];
  /** Limits searches for words that are not there: each may read the whole text. */
  #searchable = mostSearched;

  constructor(text: string) {
    this.#text = text;
    this.#bytes = Buffer.from(text);
  }

  /**
   * @param at the expected offset in bytes
   * @returns the UTF-16 offset of the words: the expected one, else their first; -1 if they were not found.
   */
  find(words: string, at: number): number {
    const expected = this.#unitOf(at);
    if (this.#text.startsWith(words, expected)) return expected;
    if (this.#searchable <= 0) return -1;
    const foundPlace = firstPlace(words, this.#text);
    this.#searchable -= words.length + (foundPlace < 0 ? this.#text.length : foundPlace);
    return foundPlace;
  }

  #unitOf(at: number): number {
    const end = Math.min(Math.max(0, Math.trunc(at)), this.#bytes.length);
    const block = Math.floor(end / stride);
    while (this.#units.length <= block) {
      const knownUnits = this.#units.length;
      this.#units.push(
        this.#units[knownUnits - 1]! + this.#count((knownUnits - 1) * stride, knownUnits * stride),
      );
    }
    return this.#units[block]! + this.#count(block * stride, end);
  }

  /** UTF-16 units of the characters that begin in a range: two for characters of four bytes, else one. */
  #count(from: number, to: number): number {
    let units = 0;
    for (let at = from; at < to; at += 1) {
      const byte = this.#bytes[at]!;
      if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
    }
    return units;
  }
}

/** Like `indexOf`, in linear time. The engine's takes quadratic time for `a…ab` in `a…a`. */
function firstPlace(words: string, text: string): number {
  if (words.length > text.length) return -1;
  // For each place, how many of the first characters also precede it: no character of the text is read twice.
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
