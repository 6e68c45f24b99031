import { recordsIn } from '../../input-extent.ts';
import { countAt } from '../../reported-surcharges.ts';
import { recordAt, type JsonRecord } from '../../values.ts';

/** Searches that a whole response made: the items it has of them, or what its `tool_usage` counts if that is more. */
export function searchesIn(response: JsonRecord): number {
  let items = 0;
  for (const item of recordsIn(response['output'])) if (isSearch(item)) items += 1;
  return Math.max(items, countAt(recordAt(response, 'tool_usage'), 'web_search', 'num_requests'));
}

/** A call that searched: opening a page, and finding something in it, are calls that cost nothing. */
export function isSearch(item: JsonRecord): boolean {
  if (item['type'] !== 'web_search_call') return false;
  const { type } = recordAt(item, 'action');
  return type === undefined || type === 'search';
}
