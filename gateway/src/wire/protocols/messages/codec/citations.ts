import type { Citation } from '#canonical/index.ts';
import { isRecord } from '../../shared/values.ts';
import { optionalText } from '../wire.ts';

/** The web pages among a text's citations. Those of documents and search results point into the request. */
export function decodeCitations(citations: unknown): Citation[] {
  return decodeAllCitations(citations).filter((citation) => citation !== null);
}

/** Like `decodeCitations`, with null for each citation that only this protocol understands. */
export function decodeAllCitations(citations: unknown): (Citation | null)[] {
  return Array.isArray(citations) ? citations.map(decodeCitation) : [];
}

export function decodeCitation(citation: unknown): Citation | null {
  if (!isRecord(citation) || citation['type'] !== 'web_search_result_location') return null;
  const { url } = citation;
  if (typeof url !== 'string') return null;
  return { url, title: optionalText(citation['title']), start: null, end: null };
}
