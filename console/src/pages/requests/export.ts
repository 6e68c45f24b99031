import { searchText, type Query } from '../../api/client.ts';
import { spanOf, type RangeSearch } from '../../app/range.ts';

/** Where all requests of a filter come as a file. */
export function exportAddress(query: Omit<Query<'exportUsage'>, 'format'>): string {
  return `/admin/v1/usage/export?${searchText({ ...query, format: 'csv' })}`;
}

/** What a page with this address shows, as a file. */
export function exportOf(search: RangeSearch, filter: string): string {
  return exportAddress({ ...(filter !== '' && { filter }), ...spanOf(search) });
}

/** Makes the browser store a file, of which nothing passes through the page. */
export function download(address: string): void {
  const link = document.createElement('a');
  link.href = address;
  link.download = '';
  link.click();
}

/** Between two reports of progress, in milliseconds. */
const reportEvery = 200;

/**
 * Fetches a file and makes the browser store it once it is whole.
 * @param onLines how many requests have come
 * @throws what `fetch` throws, also if the file is cut short
 */
export async function saveExport(
  address: string,
  signal: AbortSignal,
  onLines: (count: number) => void,
): Promise<void> {
  const response = await fetch(address, { signal, credentials: 'same-origin' });
  if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
  // The heading is a line, and no request.
  let lines = -1;
  let reported = 0;
  const counting = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, stream) {
      for (const byte of chunk) if (byte === 0x0a) lines += 1;
      const now = performance.now();
      if (now - reported > reportEvery) {
        reported = now;
        onLines(Math.max(0, lines));
      }
      stream.enqueue(chunk);
    },
  });
  const file = await new Response(response.body.pipeThrough(counting), {
    headers: { 'content-type': 'text/csv' },
  }).blob();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = 'requests.csv';
  link.click();
  URL.revokeObjectURL(link.href);
}
