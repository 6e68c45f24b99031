import { recordsIn } from '../../shared/text/input-extent.ts';
import { countAt } from '../../shared/usage/terms.ts';
import { recordAt, type JsonRecord } from '../../shared/values.ts';

/** The searches of a whole response: the number of their items, or the count in `tool_usage` if larger. */
export function searchesIn(response: JsonRecord): number {
  let items = 0;
  for (const item of recordsIn(response['output'])) if (isSearch(item)) items += 1;
  return Math.max(items, countAt(recordAt(response, 'tool_usage'), 'web_search', 'num_requests'));
}

/** The tokens of the tool `image_generation`, which its own image model used: the usage does not include them. */
export function pictureTokensIn(response: JsonRecord): number {
  const tools = recordAt(response, 'tool_usage');
  return countAt(tools, 'image_gen', 'input_tokens') + countAt(tools, 'image_gen', 'output_tokens');
}

/** Whether the call is a search. Opening a page and finding text in it are free. */
export function isSearch(item: JsonRecord): boolean {
  if (item['type'] !== 'web_search_call') return false;
  const { type } = recordAt(item, 'action');
  return type === undefined || type === 'search';
}
