import type { Citation, TextBlock } from '#canonical/index.ts';
import { isRecord } from '../../shared/values.ts';

/** The web page that an annotation names. Null for files and for kinds that only this protocol has. */
export function decodeAnnotation(annotation: unknown): Citation | null {
  if (!isRecord(annotation) || annotation['type'] !== 'url_citation') return null;
  const { url, title, start_index: start, end_index: end } = annotation;
  if (typeof url !== 'string') return null;
  return {
    url,
    title: typeof title === 'string' ? title : null,
    start: typeof start === 'number' ? start : null,
    end: typeof end === 'number' ? end : null,
  };
}

export function decodeAnnotations(
  annotations: unknown,
): Required<Pick<TextBlock, 'citations' | 'citesOwn'>> {
  const all = Array.isArray(annotations) ? annotations.map(decodeAnnotation) : [];
  const citations = all.filter((citation) => citation !== null);
  return { citations, citesOwn: citations.length < all.length ? true : undefined };
}

/** The official types require a range. A citation without one gets an empty range at the start. */
export function encodeAnnotation(citation: Citation): object {
  return {
    type: 'url_citation',
    start_index: citation.start ?? 0,
    end_index: citation.end ?? 0,
    title: citation.title ?? '',
    url: citation.url,
  };
}
