import { searchText, type Query } from '../../api/client.ts';
import { defaultRange, startOf, type RangeSearch } from '../../app/range.ts';

/** Where all requests of a filter come as a file. */
export function exportAddress(query: Omit<Query<'exportUsage'>, 'format'>): string {
  return `/admin/v1/usage/export?${searchText({ ...query, format: 'csv' })}`;
}

/** What a page with this address shows, as a file. */
export function exportOf(
  { range = defaultRange, from = startOf(range), to }: RangeSearch,
  filter: string,
): string {
  return exportAddress({
    ...(filter !== '' && { filter }),
    from,
    ...(to !== undefined && { to }),
  });
}

/** Makes the browser store a file, of which nothing passes through the page. */
export function download(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  link.click();
}
