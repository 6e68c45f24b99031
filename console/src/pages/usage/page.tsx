import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { read } from '../../api/client.ts';
import { ownTimeZone, zoneOfDays } from '../../app/days.ts';
import { defaultRange } from '../../app/range.ts';
import { useSpan } from '../../app/use-span.ts';
import { useFormats } from '../../format/numbers.ts';
import { pointsOf, scaleBelow100, scaleOf } from '../../pieces/chart/scale.ts';
import { Legend, StackedBars } from '../../pieces/chart/stacked-bars.tsx';
import { FilterKey } from '../../pieces/cell-filter.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { nextOrder } from '../../pieces/order.ts';
import { RangeSegments } from '../../pieces/range-segments.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { overTime } from '../../pieces/sums/over-time.ts';
import {
  dimensions,
  figures,
  inputOf,
  isSpeed,
  isSummed,
  partialOf,
  requestsOf,
  seriesOf,
  type Sums,
} from '../../pieces/sums/sums.ts';
import { SumsTable } from '../../pieces/sums/sums-table.tsx';
import { ViewsMenu } from '../../pieces/views-menu.tsx';
import { useWords } from '../../words/index.ts';
import { FilterLine } from '../requests/filter-line.tsx';
import { filterProblemOf, nameWords, withWord } from '../requests/filter.ts';
import { toCsv } from './csv.ts';
import styles from './page.module.css';
import { buckets, readDays, type UsageSearch } from './search.ts';
import { SmallCharts } from './small-charts.tsx';
import { SpeedTable, TimesError } from './speed-table.tsx';
import { TimeTable } from './time-table.tsx';
import { WhatChanged } from './what-changed.tsx';

const day = 86_400_000;

/** What was used, by whatever it is asked for. */
export function UsagePage() {
  const say = useWords();
  const formats = useFormats();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/usage' });
  const { range = defaultRange, metric: figure = 'cost', filter = '' } = search;
  const { view, compare = false, sort } = search;
  const group = dimensions.find((name) => name === search.group) ?? 'model';
  const second = dimensions.find((name) => name === search.sub && name !== group);
  const metric = isSummed(figure) ? figure : 'requests';
  const cumulative = search.cumulative === true && isSummed(figure);
  const isLine = cumulative || !isSummed(figure);
  const span = useSpan(search);
  const zone = search.tz ?? ownTimeZone;
  const usual = span.length <= 3 * day ? 'hour' : 'day';
  const hourDays = isSpeed(figure) ? 31 : 100;
  const cuts = buckets.filter((name) => name !== 'hour' || span.length <= hourDays * day);
  const bucket = cuts.find((name) => name === search.bucket) ?? usual;
  const asked = {
    ...(filter !== '' && { filter }),
    from: span.from,
    ...(span.to !== undefined && { to: span.to }),
    metric,
    tz: zoneOfDays(zone),
  };
  const inTime = useQuery({
    ...overTime({ ...asked, by: `${group},${bucket}`, first: '8' }, figure),
    placeholderData: (previous) => previous,
  });
  const byName = useQuery({
    queryKey: ['sums', asked, group, second],
    queryFn: ({ signal }) => {
      const by = second === undefined ? group : `${group},${second}`;
      return read<'sumUsage'>('/usage/sums', { ...asked, by, first: '50' }, signal);
    },
    placeholderData: (previous) => previous,
    refetchInterval: 60_000,
  });
  const failed = [inTime, byName].find(({ isError }) => isError);
  const change = (part: Partial<Record<keyof UsageSearch, unknown>>): void => {
    void navigate({ to: '/usage', search: { ...search, ...part } as UsageSearch });
  };
  const onFilter = (word: string, isExcluded: boolean) =>
    change({ filter: withWord(filter, word, isExcluded) });
  const amount = (value: number) => {
    if (figure === 'cost') return `${formats.amount(value)} USD`;
    if (figure === 'success') return `${formats.share(value / 100)} %`;
    if (figure === 'cached') return `${formats.percent(value / 100)} %`;
    return isSpeed(figure) ? formats.duration(value * 1_000) : formats.count(Math.round(value));
  };
  const names = byName.data && [...new Set(byName.data.data.map(({ name }) => name))];
  const series =
    inTime.data === undefined ? [] : seriesOf(inTime.data, group, figure, cumulative, say, names);
  const chartScale = figure === 'success' ? scaleBelow100 : scaleOf;
  return (
    <>
      <header className="top">
        <h1>{say('app.usage')}</h1>
        <RangeSegments range={range} />
        <ViewsMenu page="usage" search={search} />
      </header>
      <div className="body">
        <div className={styles['choices']}>
          <Choice
            label={say('explore.metric')}
            value={figure}
            values={figures}
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
            values={cuts}
            text={(name) => say(`explore.buckets.${name}`)}
            onChange={(name) => change({ bucket: name })}
          />
          <label className={styles['check']}>
            <input
              type="checkbox"
              checked={cumulative}
              disabled={!isSummed(figure)}
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
                void inTime.refetch();
                void byName.refetch();
              }}
            />
          )}
        {inTime.isError && byName.data !== undefined && <TimesError error={inTime.error} />}
        {failed === undefined && byName.data === undefined && <Skeleton rows={10} />}
        {byName.data?.requests === 0 && <p className="state">{say('overview.empty')}</p>}
        {inTime.data !== undefined && inTime.data.data.length > 0 && (
          <section className={stale(inTime, styles['chart'])}>
            <h2 className="title">
              {say(`explore.metrics.${figure}`)}{' '}
              <span className="quiet">
                {say('explore.by', { name: say(`explore.dimensions.${group}`).toLowerCase() })}
              </span>
            </h2>
            {bucket !== 'hour' && zoneOfDays(zone) !== zone && (
              <p className="quiet">{say('explore.daysOfUtc', { zone })}</p>
            )}
            {view === 'table' ? (
              <TimeTable sums={inTime.data} series={series} format={amount} />
            ) : (
              <>
                {!isSummed(figure) && <Legend series={series} />}
                <StackedBars
                  label={say('explore.chart')}
                  bars={(inTime.data.buckets ?? []).map(({ name }) => formats.part(name))}
                  partial={partialOf(inTime.data, zoneOfDays(zone))}
                  series={series}
                  isLine={isLine}
                  format={amount}
                  height={280}
                  {...(!isSummed(figure) && { scale: chartScale(pointsOf(series)) })}
                  onPick={(at) => {
                    const part = inTime.data.buckets?.[at];
                    if (part === undefined) return;
                    void navigate({ to: '/requests', search: requestsOf([], part, filter) ?? {} });
                  }}
                />
              </>
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
              figure={figure}
              isLine={isLine}
              scaleOf={chartScale}
              zone={zoneOfDays(zone)}
              sums={byName.data}
              format={amount}
            />
          )}
        {compare && failed === undefined && (
          <WhatChanged
            span={span}
            filter={filter}
            zone={zone}
            against={readDays(search.against)}
            onAgainst={(days) => change({ against: days === null ? undefined : days.join('..') })}
          />
        )}
        {byName.data !== undefined && byName.data.requests > 0 && (
          <section className={stale(byName, styles['table'])}>
            <FilterKey onFilter={onFilter} />
            <SumsTable
              sums={byName.data}
              dimension={group}
              second={second}
              filter={filter}
              colored={8}
              order={sort}
              onFilter={onFilter}
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
