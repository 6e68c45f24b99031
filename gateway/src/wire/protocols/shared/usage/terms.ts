import type { ReportedUsage, Surcharges } from '#canonical/index.ts';
import { type JsonRecord, isRecord } from '../values.ts';

/** Values that stand for the ordinary price, in requests and in responses. */
const ordinary: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'standard',
  'standard_only',
  'on_demand',
  'unspecified',
  'global',
  'not_available',
]);

const valueShape = /^[a-z0-9_-]{1,40}$/;
const noTerms: readonly string[] = Object.freeze([]);

/** A field that may change the price, with its value, as prices name the two. Null for the ordinary price. */
export function termOf(field: string, value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const lowerCase = value.toLowerCase();
  // Protocol buffers prefix the values of an enumeration.
  const word = lowerCase.startsWith(`${field}_`) ? lowerCase.slice(field.length + 1) : lowerCase;
  return ordinary.has(word) || !valueShape.test(word) ? null : `${field}.${word}`;
}

/** Members that list other models, which a router may use in place of the requested one. */
const otherModels = ['models', 'fallbacks'];

/**
 * The terms that a request asks for, such as `service_tier.priority`; `models.other` or `fallbacks.other` for a list of
 * other models. Most requests ask for none.
 * @param fields members of the body that may name a term, under the names that prices use
 */
export function requestedTerms(json: JsonRecord, ...fields: readonly string[]): readonly string[] {
  let terms = noTerms;
  for (const field of fields) {
    const term = termOf(field, json[field]);
    if (term !== null) terms = [...terms, term];
  }
  for (const name of otherModels) {
    const list = json[name];
    if (Array.isArray(list) && list.length > 0) terms = [...terms, `${name}.other`];
  }
  return terms;
}

/** More than any response has. A larger count is not believed. */
const mostSearches = 1_000;

/** Adds what else the price depends on to a report of usage; the same object if there is nothing to add. */
export function withSurcharges(
  usage: ReportedUsage | null,
  terms: readonly (string | null)[],
  webSearches: number,
  imageTokens = 0,
): ReportedUsage | null {
  if (usage === null) return null;
  const reported = terms.filter((term) => term !== null);
  if (reported.length === 0 && webSearches === 0 && imageTokens === 0) return usage;
  const surcharges: Surcharges = {
    reported,
    webSearches: Math.min(webSearches, mostSearches),
    ...(imageTokens > 0 && { imageTokens }),
  };
  return { ...usage, surcharges, implausible: usage.implausible || webSearches > mostSearches };
}

/** Where vendors count searches in the usage. */
const searchPlaces: readonly (readonly string[])[] = [
  // Anthropic, OpenRouter, xAI.
  ['server_tool_use', 'web_search_requests'],
  ['server_tool_use_details', 'web_search_requests'],
  ['server_side_tool_usage_details', 'web_search_calls'],
  // Volcengine Ark. https://www.volcengine.com/docs/82379/1569618
  ['tool_usage', 'web_search'],
  // LiteLLM. https://github.com/BerriAI/litellm/blob/main/litellm/types/utils.py
  ['prompt_tokens_details', 'web_search_requests'],
  // Perplexity. https://docs.perplexity.ai/api-reference/chat-completions-post
  ['num_search_queries'],
  // Model Studio: its page on web search.
  ['plugins', 'search', 'count'],
];

/** The number of searches, in any of the places where vendors put it in the usage. */
export function searchesInUsage(usage: JsonRecord): number {
  let most = 0;
  for (const place of searchPlaces) {
    if (usage[place[0]!] !== undefined) most = Math.max(most, countAt(usage, place));
  }
  return most;
}

/** The count at a path; 0 if it is not a count. */
export function countAt(record: JsonRecord, path: readonly string[]): number {
  let value: unknown = record;
  for (const name of path) value = isRecord(value) ? value[name] : undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** The term in a member of the response or of its usage. */
export function termIn(source: unknown, field: string, name = field): string | null {
  return isRecord(source) ? termOf(field, source[name]) : null;
}
