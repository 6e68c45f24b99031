import { useQueries } from '@tanstack/react-query';
import type { Query } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Legend, StackedBars, type Series } from '../../pieces/chart/stacked-bars.tsx';
import { pointsOf, type Scale } from '../../pieces/chart/scale.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { overTime } from '../../pieces/sums/over-time.ts';
import {
  groupName,
  isSummed,
  partialOf,
  seriesOf,
  valueOf,
  type Dimension,
  type Figure,
  type Metric,
  type OverTime,
  type Sums,
} from '../../pieces/sums/sums.ts';
import { useWords } from '../../words/index.ts';
import { filterWord } from '../requests/filter.ts';
import styles from './page.module.css';

/** So many charts fit on a page without making anybody scroll. */
const mostCharts = 6;
/** Names with a colour of their own. */
const mostColors = 8;

interface Props {
  /** Range and filter of the page. */
  readonly asked: Omit<Query<'sumUsage'>, 'by' | 'first'>;
  readonly group: Dimension;
  readonly second: Dimension;
  readonly bucket: string;
  readonly figure: Figure;
  readonly isLine: boolean;
  /** The zone in which days begin. */
  readonly zone: string;
  /** By the first dimension and the second. */
  readonly sums: Sums;
  readonly format: (value: number) => string;
  /** Of all charts together. */
  readonly scaleOf: (values: readonly number[]) => Scale;
}

/** The second dimension over time: one small chart for each group, with one scale and one legend. */
export function SmallCharts(props: Props) {
  const { asked, group, second, bucket, figure, isLine, zone, sums, format, scaleOf } = props;
  const say = useWords();
  const formats = useFormats();
  const metric = isSummed(figure) ? figure : 'requests';
  const groups = ranked(sums, ({ name }) => name, metric).slice(0, mostCharts);
  const names = ranked(sums, ({ second: part }) => part ?? null, metric).slice(0, mostColors);
  const results = useQueries({
    queries: groups.map((name) => {
      const filter = [asked.filter ?? '', filterWord(group, name)].join(' ').trim();
      return overTime({ ...asked, filter, by: `${second},${bucket}`, first: '50' }, figure);
    }),
  });
  const failed = results.find(({ isError }) => isError);
  if (failed !== undefined) {
    return (
      <ErrorState
        error={failed.error}
        onRetry={() => {
          for (const each of results) void each.refetch();
        }}
      />
    );
  }
  if (results.some(({ data }) => data === undefined)) return <Skeleton rows={6} />;
  const titles = names.map((name) => groupName(second, name, 0, say));
  const charts = results.map(({ data }, at) => ({
    name: groups[at] ?? '',
    data: data!,
    series: inColors(
      seriesOf(data!, second, figure, isLine && isSummed(figure), say),
      titles,
      isSummed(figure) ? say('explore.rest') : null,
    ),
  }));
  // One scale for all of them, or the smallest group would look like the largest.
  const scale = scaleOf(charts.flatMap(({ series }) => heightsOf(series, isLine)));
  const hasRest = charts.some(({ series }) => series.some(({ color }) => color === '--c9'));
  return (
    <section className={styles['chart']} aria-label={say('explore.smallCharts')}>
      <h2 className="title">
        {say(`explore.metrics.${figure}`)}{' '}
        <span className="quiet">
          {say('explore.byBoth', {
            name: say(`explore.dimensions.${group}`).toLowerCase(),
            second: say(`explore.dimensions.${second}`).toLowerCase(),
          })}
        </span>
      </h2>
      <Legend
        series={[
          ...titles.map((name, rank) => ({ name, color: `--c${rank + 1}` })),
          ...(hasRest ? [{ name: say('explore.rest'), color: '--c9' }] : []),
        ]}
      />
      <div className={styles['small']}>
        {charts.map(({ name, data, series }) => (
          <figure key={name}>
            <figcaption>
              <span className="strong">{groupName(group, name, 0, say)}</span>{' '}
              <span className="quiet">{totalOf(data, figure, format)}</span>
            </figcaption>
            <StackedBars
              label={say('explore.chartOf', { name })}
              bars={(data.buckets ?? []).map((each) => formats.part(each.name))}
              partial={partialOf(data, zone)}
              series={series}
              isLine={isLine}
              format={format}
              height={140}
              scale={scale}
            />
          </figure>
        ))}
      </div>
    </section>
  );
}

/** Names by what they sum up to, without those of all others and of none. */
function ranked(
  { data }: Sums,
  nameOf: (sum: Sums['data'][number]) => string | null,
  metric: Metric,
): string[] {
  const totals = new Map<string, number>();
  for (const sum of data) {
    const name = nameOf(sum);
    if (name !== null && name !== '')
      totals.set(name, (totals.get(name) ?? 0) + (valueOf(sum, metric) ?? 0));
  }
  return [...totals].toSorted(([, a], [, b]) => b - a).map(([name]) => name);
}

/** What a group has in all; times have no sum. */
function totalOf(data: OverTime, figure: Figure, format: (value: number) => string) {
  const total = 'cost' in data ? valueOf(data, figure) : null;
  return total === null ? '' : format(total);
}

/** The same name has the same colour in every chart. @param rest the name of all others as one part; null: left out */
function inColors(
  series: readonly Series[],
  titles: readonly string[],
  rest: string | null,
): Series[] {
  const colored = titles.flatMap((title, rank) => {
    const found = series.find(({ name }) => name === title);
    return found === undefined ? [] : [{ ...found, color: `--c${rank + 1}` }];
  });
  const others = series.filter(({ name }) => !titles.includes(name));
  if (others.length === 0 || rest === null) return colored;
  const values = others[0]!.values.map((_, at) =>
    others.reduce((sum, { values: each }) => sum + (each[at] ?? 0), 0),
  );
  return [...colored, { name: rest, color: '--c9', values }];
}

/** Of all bars, or of the points of all lines. */
function heightsOf(series: readonly Series[], isLine: boolean): number[] {
  if (isLine) return pointsOf(series);
  const bars = series[0]?.values ?? [];
  return bars.map((_, at) => series.reduce((sum, { values }) => sum + (values[at] ?? 0), 0));
}
