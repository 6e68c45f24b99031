import type { OpaqueBlock, Citation } from '#canonical/index.ts';
import { type JsonRecord, isRecord, optionalText } from '../../shared/values.ts';
import { isExactRecord, parseExact } from '../../shared/exact-json.ts';

/**
 * A block of a hosted tool, of a beta or of an unknown type. The call and the result of a hosted tool are both opaque,
 * so that other protocols drop them together.
 */
export function decodeOpaque(block: JsonRecord, type: string): OpaqueBlock {
  const opaque = { type: 'opaque', protocol: 'messages', name: type, value: block } as const;
  // It replaces the whole conversation before it, which the model would not know without its text.
  if (type === 'compaction') {
    const { content } = block;
    if (typeof content === 'string') return { ...opaque, ifForeign: 'drop', text: content };
    return { ...opaque, ifForeign: 'refuse' };
  }
  return { ...opaque, ifForeign: type === 'container_upload' ? 'refuse' : 'drop' };
}

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

interface ToolInput {
  readonly input: JsonRecord;
  /** The text was not a JSON object and was wrapped in one. */
  readonly wrapped: boolean;
}

/** Arguments as an object, which this protocol requires. Anything else is wrapped in one. */
export function toolInput(text: string): ToolInput {
  if (text.trim() === '') return { input: {}, wrapped: false };
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    return { input: { raw_arguments: text }, wrapped: true };
  }
  if (isExactRecord(value)) return { input: value, wrapped: false };
  return value === null ? { input: {}, wrapped: false } : { input: { value }, wrapped: true };
}
