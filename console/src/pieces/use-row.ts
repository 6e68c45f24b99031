import { useQuery } from '@tanstack/react-query';
import { read, type Query, type Result } from '../api/client.ts';

type Row = Result<'listUsage'>['data'][number];

/** How often a row is looked for: it is written a moment after the answer has ended. */
const lookEvery = 400;
const mostLooks = 25;

/**
 * The row of a request that this page has sent; null or undefined: not yet.
 * @param requestId null: the answer has not ended
 * @param among a filter that finds it among the latest
 */
export function useRow(
  requestId: string | null,
  among: Query<'listUsage'>,
): Row | null | undefined {
  return useQuery({
    queryKey: ['own-row', requestId],
    enabled: requestId !== null,
    queryFn: async ({ signal }) => {
      const { data } = await read<'listUsage'>('/usage', { ...among, limit: '20' }, signal);
      return data.find(({ id }) => id === requestId) ?? null;
    },
    refetchInterval: ({ state }) =>
      state.data == null && state.dataUpdateCount < mostLooks ? lookEvery : false,
    staleTime: Infinity,
  }).data;
}
