import type { Query } from '../../api/client.ts';

/** Words of the filter line, and the names that the API has for them. */
export const filterWords = {
  model: 'model',
  key: 'key',
  user: 'user',
  team: 'team',
  channel: 'channel',
  protocol: 'protocol',
  outcome: 'outcome',
  status: 'status',
  cost: 'min_cost',
  ms: 'min_ms',
} as const satisfies Record<string, keyof Query<'listUsage'>>;
type FilterWord = keyof typeof filterWords;

export type FilterReading =
  | { readonly kind: 'read'; readonly query: Query<'listUsage'> }
  /** The word that is not known. */
  | { readonly kind: 'unknown'; readonly word: string };

/**
 * Reads a filter line such as `model:demo-chat status:4xx cost:>0.01`. A value with spaces stands in double quotes. The
 * values themselves are checked by the gateway.
 */
export function readFilter(line: string): FilterReading {
  const query: Record<string, string> = {};
  for (const [text] of line.matchAll(/(?:[^\s"]|"[^"]*")+/g)) {
    const colon = text.indexOf(':');
    const word = colon === -1 ? text : text.slice(0, colon);
    if (colon === -1 || !Object.hasOwn(filterWords, word)) return { kind: 'unknown', word: text };
    const value = text
      .slice(colon + 1)
      .replaceAll('"', '')
      .replace(/^>=?/, '');
    if (value !== '') query[filterWords[word as FilterWord]] = value;
  }
  return { kind: 'read', query };
}
