import { readRangeSearch } from '../../app/range.ts';
import type { RequestsSearch } from '../../app/router.tsx';

/** What a kept list consists of: its filter, its range, and whether it is live. No open request. */
export function viewText({ filter, range, from, to, live }: RequestsSearch): string {
  const parts = { filter, range, from, to, live: live === true ? 'true' : undefined };
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) {
    if (value !== undefined) search.set(name, value);
  }
  return search.toString();
}

/** The list again; what cannot be read is left out. */
export function readView(text: string): RequestsSearch {
  const { filter, live, ...range } = Object.fromEntries(new URLSearchParams(text));
  return {
    ...readRangeSearch(range),
    ...(filter !== undefined && { filter }),
    ...(live === 'true' && { live: true }),
  };
}
