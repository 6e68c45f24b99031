import type { Citation } from '#canonical/index.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { Utf8Places } from './utf8-places.ts';

/**
 * The web pages that support a text by `groundingMetadata`. Its offsets count UTF-8 bytes of a part, and streams do not
 * tell of which part. A segment that is not at its offset is looked up by its words.
 */
export function readGrounding(metadata: unknown, text: string): readonly Citation[] {
  if (!isRecord(metadata)) return [];
  const sources = records(metadata['groundingChunks']).map(sourceOf);
  const supports = records(metadata['groundingSupports']);
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
    for (const { uri: url, title } of records(one['citationSources'] ?? one['citations'])) {
      if (typeof url !== 'string' || url === '' || pages.has(url)) continue;
      const named = typeof title === 'string' && title !== '' ? title : null;
      pages.set(url, { url, title: named, start: null, end: null });
    }
  }
  return [...pages.values()];
}

function records(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
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
