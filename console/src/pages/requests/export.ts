import { searchText, type Query } from '../../api/client.ts';
import { spanOf, type RangeSearch } from '../../app/range.ts';
import { readFilter } from './filter.ts';

/** Where all requests of a filter come as a file. */
export function exportAddress(query: Omit<Query<'exportUsage'>, 'format'>): string {
  return `/admin/v1/usage/export?${searchText({ ...query, format: 'csv' })}`;
}

/** What a page with this address shows, as a file; null: its filter has a word that is not known. */
export function exportOf(search: RangeSearch, filter: string): string | null {
  const reading = readFilter(filter);
  if (reading.kind === 'unknown') return null;
  return exportAddress({ ...reading.query, ...spanOf(search) });
}

/** Makes the browser store a file, of which nothing passes through the page. */
export function download(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  link.click();
}
