import { addDays, monthOf, startOfDay } from '../../app/days.ts';
import type { Query, Result } from '../../api/client.ts';
import type { RequestsSearch } from '../../app/router.tsx';
import { filterWord, hasWord } from '../../pages/requests/filter.ts';
import { clientName } from '../../format/client.ts';
import type { Say } from '../../words/index.ts';
import type { Series } from '../chart/stacked-bars.tsx';

export type Sums = Result<'sumUsage'>;
export type Sum = Omit<Sums['data'][number], 'name' | 'second'>;
type Latencies = Result<'readLatency'>;
export type Latency = Latencies['data'][number];
/** Whatever a chart shows, by one dimension and the time. */
export type OverTime = Sums | Latencies;

export const metrics = ['cost', 'tokens', 'requests', 'failed', 'input', 'output'] as const;
export type Metric = (typeof metrics)[number] & Query<'sumUsage'>['metric'];

/** Shares of sums, and times that latencies have: figures of lines, which nothing adds up. */
const shares = ['success', 'cached'] as const;
const speeds = ['firstToken', 'firstToken95', 'duration', 'duration95'] as const;
type Speed = (typeof speeds)[number];
export const figures = [...metrics, ...shares, ...speeds] as const;
export type Figure = (typeof figures)[number];

export const isSpeed = (figure: Figure): figure is Speed =>
  speeds.some((speed) => speed === figure);
export const isSummed = (figure: Figure): figure is Metric =>
  metrics.some((metric) => metric === figure);

export const dimensions = ['model', 'key', 'user', 'team', 'channel', 'client'] as const;
export type Dimension = (typeof dimensions)[number];

export const inputOf = ({ tokens }: Pick<Sum, 'tokens'>) =>
  tokens.input + tokens.cache_read + tokens.cache_write + tokens.cache_write_1h;

/** A figure as a number, for charts: times in seconds, shares of 100; null: there is none. */
export function valueOf(sum: Sum | Latency, figure: Figure): number | null {
  if ('cost' in sum) return isSpeed(figure) ? null : valueOfSum(sum, figure);
  const { first_token_ms: first, duration_ms: duration } = sum;
  const times = figure === 'firstToken' || figure === 'firstToken95' ? first : duration;
  const time = times?.[figure === 'firstToken' || figure === 'duration' ? 'p50' : 'p95'];
  return time === undefined || !isSpeed(figure) ? null : time / 1_000;
}

function valueOfSum(sum: Sum, figure: Exclude<Figure, Speed>): number | null {
  const input = inputOf(sum);
  switch (figure) {
    case 'cost':
      return Number(sum.cost);
    case 'tokens':
      return input + sum.tokens.output;
    case 'input':
      return input;
    case 'output':
      return sum.tokens.output;
    case 'failed':
      return sum.failed - sum.refused;
    case 'requests':
      return sum.requests;
    case 'success':
      return sum.requests === 0 ? null : 100 * (1 - (sum.failed - sum.refused) / sum.requests);
    case 'cached':
      return input === 0 ? null : (100 * sum.tokens.cache_read) / input;
  }
}

/** Which bars of a chart have not all of their time: what was before a range and after it, or is still to come, lacks. */
export function partialOf(
  { buckets, from, to }: Pick<Sums, 'buckets' | 'from' | 'to'>,
  zone: string,
) {
  const [start, end] = [Date.parse(from), Math.min(Date.parse(to), Date.now())];
  return buckets?.map(({ name }) => {
    const [first, after] = name.includes('T')
      ? [Date.parse(name), Date.parse(name) + 3_600_000]
      : [name.length === 7 ? `${name}-01` : name].flatMap((day) => [
          startOfDay(day, zone),
          startOfDay(name.length === 7 ? monthOf(day, 1) : addDays(day, 1), zone),
        ]);
    return (first ?? 0) < start || (after ?? 0) > end;
  });
}

/** What a group is called. @param others the number of names in the group of all others */
export function groupName(
  dimension: Dimension,
  name: string | null,
  others: number,
  say: Say,
): string {
  if (name === null) return say('explore.others', { count: others, number: others });
  if (name === '') return say(`explore.none.${dimension}`);
  return dimension === 'client' ? clientName(name, say) : name;
}

/**
 * The parts of each bar, the largest names first; all others come last.
 * @param names in the order of their colours; absent: in that of the sums
 */
export function seriesOf(
  { data, buckets, others }: Pick<OverTime, 'buckets' | 'others' | 'data'>,
  dimension: Dimension,
  figure: Figure,
  isCumulative: boolean,
  say: Say,
  names: readonly (string | null)[] = [...new Set(data.map(({ name }) => name))],
): Series[] {
  const bars = buckets ?? [];
  const places = new Map(bars.map(({ name }, at) => [name, at]));
  const found = new Map<string | null, (number | null)[]>();
  for (const sum of data) {
    const values = found.get(sum.name) ?? bars.map(() => (isSummed(figure) ? 0 : null));
    found.set(sum.name, values);
    const at = places.get(sum.second ?? '');
    if (at !== undefined) values[at] = valueOf(sum, figure);
  }
  if (isCumulative) {
    for (const values of found.values()) {
      let total = 0;
      for (const at of values.keys()) values[at] = total += values[at] ?? 0;
    }
  }
  return [...found].map(([name, values]) => ({
    name: groupName(dimension, name, others[0] ?? 0, say),
    color: name === null ? '--c9' : `--c${(names.indexOf(name) % 8) + 1}`,
    values,
  }));
}

/**
 * The requests that a figure counts; null: no filter names them.
 * @param line the filter line of the sums
 */
export function requestsOf(
  groups: readonly { readonly dimension: Dimension; readonly name: string | null }[],
  { from, to }: Pick<Sums, 'from' | 'to'>,
  line = '',
): RequestsSearch | null {
  const words = groups.map(({ dimension, name }) => {
    if (name === '') return dimension === 'model' ? 'asked:no' : null;
    return name === null ? null : filterWord(dimension, name);
  });
  if (words.includes(null)) return null;
  const filter = [line, ...words].join(' ').trim();
  // Sums of a model leave out what was refused before any upstream was asked.
  const isOfModel = hasWord(filter, 'model');
  return { ...(filter !== '' && { filter: isOfModel ? `${filter} asked:yes` : filter }), from, to };
}
