import type { Query } from '../../api/client.ts';

/** Words of the filter line, and the names that the API has for them. */
export const filterWords = {
  model: 'model',
  key: 'key',
  user: 'user',
  team: 'team',
  channel: 'channel',
  tried: 'tried',
  error: 'error',
  client: 'client',
  protocol: 'protocol',
  operation: 'operation',
  outcome: 'outcome',
  status: 'status',
  cost: 'min_cost',
  ms: 'min_ms',
  asked: 'asked',
} as const satisfies Record<string, keyof Query<'listUsage'>>;
export type FilterWord = keyof typeof filterWords;

/** Words that sums can be filtered by too. */
export const nameWords: readonly string[] = ['model', 'key', 'user', 'team', 'channel', 'client'];

export type FilterReading =
  | { readonly kind: 'read'; readonly query: Query<'listUsage'> }
  /** The word that is not known. */
  | { readonly kind: 'unknown'; readonly word: string };

/**
 * Reads a filter line such as `model:demo-chat status:4xx cost:>0.01`. A value with spaces stands in double quotes. The
 * values themselves are checked by the gateway.
 * @param known the words that the page has
 */
export function readFilter(
  line: string,
  known: readonly string[] = Object.keys(filterWords),
): FilterReading {
  const query: Record<string, string> = {};
  for (const [text] of line.matchAll(/(?:[^\s"]|"[^"]*")+/g)) {
    const colon = text.indexOf(':');
    const word = colon === -1 ? text : text.slice(0, colon);
    if (colon === -1 || !known.includes(word)) return { kind: 'unknown', word: text };
    const value = text
      .slice(colon + 1)
      .replaceAll('"', '')
      .replace(/^>=?/, '');
    if (value !== '') query[filterWords[word as FilterWord]] = value;
  }
  return { kind: 'read', query };
}

/** The word that is being typed at the end of a line; `word` is null until its colon. */
export function lastWord(line: string): { readonly word: string | null; readonly value: string } {
  const [text = ''] = /(?:[^\s"]|"[^"]*"?)*$/.exec(line) ?? [];
  const colon = text.indexOf(':');
  if (colon === -1) return { word: null, value: text };
  return { word: text.slice(0, colon), value: text.slice(colon + 1).replaceAll('"', '') };
}

/** The line with another word in the place of the last one. */
export function withLastWord(line: string, word: string): string {
  return line.replace(/(?:[^\s"]|"[^"]*"?)*$/, () => word);
}

/** A word of the filter line, as it is typed. */
export function filterWord(word: FilterWord, value: string): string {
  return `${word}:${/\s/.test(value) ? `"${value}"` : value}`;
}
