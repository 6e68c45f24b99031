import { read, type Query } from '../../api/client.ts';
import { isSpeed, type Figure, type OverTime } from './sums.ts';

const again = 60_000;

/** What `useQuery` reads for a figure over time: sums, or how long requests took. */
export function overTime({ metric, ...query }: Query<'sumUsage'>, figure: Figure) {
  const kind = isSpeed(figure) ? 'latency' : 'sums';
  return {
    queryKey: [kind, query, metric],
    queryFn: ({ signal }: { readonly signal: AbortSignal }): Promise<OverTime> =>
      kind === 'latency'
        ? read<'readLatency'>('/usage/latency', query, signal)
        : read<'sumUsage'>('/usage/sums', { ...query, metric }, signal),
    refetchInterval: again,
  };
}
