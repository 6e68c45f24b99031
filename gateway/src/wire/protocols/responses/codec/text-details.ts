import type { Citation, TextBlock, TokenLogprob } from '#canonical/index.ts';
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

/** Undefined if the list is empty, as it is in most deltas. */
export function decodeLogprobs(list: unknown): TokenLogprob[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list.filter(isRecord).map((entry) => ({
    ...decodeToken(entry),
    top: Array.isArray(entry['top_logprobs'])
      ? entry['top_logprobs'].filter(isRecord).map(decodeToken)
      : [],
  }));
}

function decodeToken(entry: Readonly<Record<string, unknown>>): Omit<TokenLogprob, 'top'> {
  const { token, logprob, bytes } = entry;
  return {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: Array.isArray(bytes) && bytes.length > 0 ? (bytes as number[]) : null,
  };
}

/** The official types require `bytes`. The list is empty if the upstream sent none. */
export function encodeLogprobs(list: readonly TokenLogprob[]): object[] {
  return list.map(({ token, logprob, bytes, top }) => ({
    token,
    logprob,
    bytes: bytes ?? [],
    top_logprobs: top.map((other) => ({ ...other, bytes: other.bytes ?? [] })),
  }));
}
