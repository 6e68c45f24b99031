import { recordsIn } from '../../shared/text/input-extent.ts';
import { recordAt, type JsonRecord } from '../../shared/values.ts';

/** The number of searches behind a response, over all candidates. */
export function searchesIn(response: JsonRecord): number {
  let count = 0;
  for (const candidate of recordsIn(response['candidates'])) {
    const queries = recordAt(candidate, 'groundingMetadata')['webSearchQueries'];
    if (!Array.isArray(queries)) continue;
    count += queries.filter((query) => typeof query === 'string' && query !== '').length;
  }
  return count;
}
