import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { read, type Query } from '../../api/client.ts';
import { ownTimeZone, zoneOfDays } from '../../app/days.ts';
import { defaultRange, useSpan } from '../../app/range.ts';
import { useFormats } from '../../format/numbers.ts';
import { StackedBars } from '../../pieces/chart/stacked-bars.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { nextOrder } from '../../pieces/order.ts';
import { RangeSegments } from '../../pieces/range-segments.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import {
  dimensions,
  inputOf,
  partialOf,
  metrics,
  requestsOf,
  seriesOf,
  type Sums,
} from '../../pieces/sums/sums.ts';
import { SumsTable } from '../../pieces/sums/sums-table.tsx';
import { useWords } from '../../words/index.ts';
import { FilterLine } from '../requests/filter-line.tsx';
import { filterProblemOf, nameWords, withoutWord } from '../requests/filter.ts';
import { toCsv } from './csv.ts';
import styles from './page.module.css';
import { buckets, readDays, type UsageSearch } from './search.ts';
import { SmallCharts } from './small-charts.tsx';
import { SpeedTable } from './speed-table.tsx';
import { TimeTable } from './time-table.tsx';
import { WhatChanged } from './what-changed.tsx';

const day = 86_400_000;

/** What was used, by whatever it is asked for. */
export function UsagePage() {
  const say = useWords();
  const formats = useFormats();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/usage' });
  const { range = defaultRange, metric = 'cost', group = 'model', sub, filter = '' } = search;
  const { view, cumulative = false, compare = false, sort } = search;
  const span = useSpan(search);
  const zone = search.tz ?? ownTimeZone;
  const usual = span.length <= 3 * day ? 'hour' : 'day';
  const bucket = search.bucket ?? usual;
  const asked = {
    ...(filter !== '' && { filter }),
    from: span.from,
    ...(span.to !== undefined && { to: span.to }),
    metric,
    tz: zoneOfDays(zone),
  };
  const overTime = useSums({ ...asked, by: `${group},${bucket}`, first: '8' });
  const second = sub === group ? undefined : sub;
  const byName = useSums({
    ...asked,
    by: second === undefined ? group : `${group},${second}`,
    first: '50',
  });
  const failed = [overTime, byName].find(({ isError }) => isError);
  const change = (part: Partial<Record<keyof UsageSearch, unknown>>): void => {
    void navigate({ to: '/usage', search: { ...search, ...part } as UsageSearch });
  };
  const amount = (value: number) =>
    metric === 'cost' ? `${formats.amount(value)} USD` : formats.count(Math.round(value));

  const series =
    overTime.data === undefined ? [] : seriesOf(overTime.data, group, metric, cumulative, say);
  return (
    <>
      <header className="top">
        <h1>{say('app.usage')}</h1>
        <RangeSegments range={range} />
      </header>
      <div className="body">
        <div className={styles['choices']}>
          <Choice
            label={say('explore.metric')}
            value={metric}
            values={metrics}
            text={(name) => say(`explore.metrics.${name}`)}
            onChange={(name) => change({ metric: name })}
          />
          <Choice
            label={say('explore.group')}
            value={group}
            values={dimensions}
            text={(name) => say(`explore.dimensions.${name}`)}
            onChange={(name) => change({ group: name })}
          />
          <Choice
            label={say('explore.second')}
            value={second ?? ''}
            values={['', ...dimensions.filter((name) => name !== group)] as const}
            text={(name) => (name === '' ? '–' : say(`explore.dimensions.${name}`))}
            onChange={(name) => change({ sub: name === '' ? undefined : name })}
          />
          <Choice
            label={say('explore.bucket')}
            value={bucket}
            values={buckets.filter((name) => name !== 'hour' || span.length <= 100 * day)}
            text={(name) => say(`explore.buckets.${name}`)}
            onChange={(name) => change({ bucket: name })}
          />
          <label className={styles['check']}>
            <input
              type="checkbox"
              checked={cumulative}
              onChange={({ target }) => change({ cumulative: target.checked ? true : undefined })}
            />
            {say('explore.cumulative')}
          </label>
          <label className={styles['check']}>
            <input
              type="checkbox"
              checked={view === 'table'}
              onChange={({ target }) => change({ view: target.checked ? 'table' : undefined })}
            />
            {say('explore.asTable')}
          </label>
          <label className={styles['check']}>
            <input
              type="checkbox"
              checked={compare}
              onChange={({ target }) => change({ compare: target.checked ? true : undefined })}
            />
            {say('explore.compare')}
          </label>
          <button
            type="button"
            className="button"
            disabled={byName.data === undefined}
            onClick={() => byName.data !== undefined && save(byName.data, group, second)}
          >
            <Icon name="down" />
            CSV
          </button>
        </div>
        <FilterLine
          key={filter}
          filter={filter}
          span={span}
          words={nameWords}
          error={failed?.error}
          onChange={(line) => change({ filter: line === '' ? undefined : line })}
        />
        {failed !== undefined &&
          byName.data === undefined &&
          filterProblemOf(failed.error) === null && (
            <ErrorState
              error={failed.error}
              onRetry={() => {
                void overTime.refetch();
                void byName.refetch();
              }}
            />
          )}
        {failed === undefined && byName.data === undefined && <Skeleton rows={10} />}
        {byName.data?.requests === 0 && <p className="state">{say('overview.empty')}</p>}
        {overTime.data !== undefined && overTime.data.requests > 0 && (
          <section className={stale(overTime, styles['chart'])}>
            <h2 className="title">
              {say(`explore.metrics.${metric}`)}{' '}
              <span className="quiet">
                {say('explore.by', { name: say(`explore.dimensions.${group}`) })}
              </span>
            </h2>
            {bucket !== 'hour' && zoneOfDays(zone) !== zone && (
              <p className="quiet">{say('explore.daysOfUtc', { zone })}</p>
            )}
            {view === 'table' ? (
              <TimeTable sums={overTime.data} series={series} format={amount} />
            ) : (
              <StackedBars
                label={say('explore.chart')}
                bars={(overTime.data.buckets ?? []).map(({ name }) => formats.part(name))}
                partial={partialOf(overTime.data, zoneOfDays(zone))}
                series={series}
                isLine={cumulative}
                format={amount}
                height={280}
                onPick={(at) => {
                  const part = overTime.data.buckets?.[at];
                  if (part === undefined) return;
                  void navigate({ to: '/requests', search: requestsOf([], part, filter) ?? {} });
                }}
              />
            )}
          </section>
        )}
        {second !== undefined &&
          failed === undefined &&
          byName.data !== undefined &&
          byName.data.requests > 0 && (
            <SmallCharts
              asked={asked}
              group={group}
              second={second}
              bucket={bucket}
              metric={metric}
              isLine={cumulative}
              zone={zoneOfDays(zone)}
              sums={byName.data}
              format={amount}
            />
          )}
        {compare && failed === undefined && (
          <WhatChanged
            span={span}
            filter={filter}
            zone={zoneOfDays(zone)}
            against={readDays(search.against)}
            onAgainst={(days) => change({ against: days === null ? undefined : days.join('..') })}
          />
        )}
        {byName.data !== undefined && byName.data.requests > 0 && (
          <section className={stale(byName, styles['table'])}>
            <SumsTable
              sums={byName.data}
              dimension={group}
              second={second}
              filter={filter}
              colored={8}
              order={sort}
              onExclude={(word) => change({ filter: withoutWord(filter, word) })}
              onOrder={(column) => change({ sort: nextOrder(column, sort, column !== 'name') })}
            />
          </section>
        )}
        {(group === 'model' || group === 'channel') &&
          failed === undefined &&
          byName.data !== undefined &&
          byName.data.requests > 0 && (
            <SpeedTable
              by={group}
              query={{
                ...(filter !== '' && { filter }),
                from: span.from,
                ...(span.to !== undefined && { to: span.to }),
              }}
              sums={byName.data}
              filter={filter}
            />
          )}
      </div>
    </>
  );
}

/** What is shown while other figures load is dimmed: it does not belong to what was chosen. */
const stale = ({ isPlaceholderData }: { isPlaceholderData: boolean }, className = '') =>
  isPlaceholderData ? `${className} stale` : className;

function useSums(query: Query<'sumUsage'>) {
  return useQuery({
    queryKey: ['sums', query],
    queryFn: ({ signal }) => read<'sumUsage'>('/usage/sums', query, signal),
    placeholderData: (previous) => previous,
    refetchInterval: 60_000,
  });
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly values: readonly Value[];
  readonly text: (value: Value) => string;
  readonly onChange: (value: Value) => void;
}

function Choice<Value extends string>({
  label,
  value,
  values,
  text,
  onChange,
}: ChoiceProps<Value>) {
  return (
    <label className={styles['choice']}>
      <span>{label}</span>
      <select
        className="input"
        value={value}
        onChange={({ target }) => onChange(target.value as Value)}
      >
        {values.map((name) => (
          <option key={name} value={name}>
            {text(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Stores the sums on this page as a file. */
function save(sums: Sums, group: string, second: string | undefined): void {
  const heading = [
    group,
    ...(second === undefined ? [] : [second]),
    'requests',
    'failed',
    'refused',
    'input',
    'cache_read',
    'output',
    'cost',
  ];
  const rows = sums.data.map(({ name, second: part, ...sum }) => [
    name ?? '(others)',
    ...(second === undefined ? [] : [part ?? '(others)']),
    sum.requests,
    sum.failed - sum.refused,
    sum.refused,
    inputOf(sum),
    sum.tokens.cache_read,
    sum.tokens.output,
    Number(sum.cost) === 0 ? 0 : sum.cost,
  ]);
  const address = URL.createObjectURL(new Blob([toCsv([heading, ...rows])], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = address;
  link.download = 'usage.csv';
  link.click();
  URL.revokeObjectURL(address);
}
