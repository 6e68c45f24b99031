import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { read, type Query, type Result } from '../../api/client.ts';
import { ownTimeZone, zoneOfDays } from '../../app/days.ts';
import { defaultRange } from '../../app/range.ts';
import { useSpan } from '../../app/use-span.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { StackedBars } from '../../pieces/chart/stacked-bars.tsx';
import { RangeSegments } from '../../pieces/range-segments.tsx';
import { Simulated } from '../../pieces/simulated.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { partialOf, seriesOf, type Dimension } from '../../pieces/sums/sums.ts';
import { SumsTable } from '../../pieces/sums/sums-table.tsx';
import { useWords } from '../../words/index.ts';
import { Attention } from './attention.tsx';
import { Figures } from './figures.tsx';
import { LimitsLeft } from './limits-left.tsx';
import { LastFailures } from './last-failures.tsx';
import styles from './page.module.css';
import { overviewDimensions, overviewMetrics, type OverviewSearch } from './search.ts';

export type Overview = Result<'readOverview'>;

const day = 86_400_000;
const again = 15_000;

/** What was spent, on what and by whom, against the time before, and what has to be done. */
export function OverviewPage() {
  const say = useWords();
  const formats = useFormats();
  const navigate = useNavigate();
  // Who sees nobody else's requests looks at what they have left first.
  const isHome = !useSession().permissions.includes('usage.read');
  const search = useSearch({ from: '/inside/' });
  const { range = defaultRange, metric = 'cost', group = 'model' } = search;
  const span = useSpan(search);
  const zone = search.tz ?? ownTimeZone;
  const asked = {
    from: span.from,
    ...(span.to !== undefined && { to: span.to }),
    tz: zoneOfDays(zone),
  };
  const overview = useQuery({
    queryKey: ['overview', span.name],
    queryFn: ({ signal }) => read<'readOverview'>('/overview', asked, signal),
    refetchInterval: again,
    placeholderData: (previous) => previous,
  });
  const bucket = span.length <= 2 * day ? 'hour' : 'day';
  const sums = useSums({ ...asked, metric, by: `${group},${bucket}`, first: '8' });
  const names = useSums({ ...asked, metric, by: group, first: '8' });
  const { before } = overview.data ?? {};
  const earlier = useSums(
    { from: before?.from, to: before?.to, metric, by: group, first: '200' },
    before !== undefined,
  );
  const amounts = useMemo(
    () => earlier.data && new Map(earlier.data.data.map((sum) => [sum.name, sum] as const)),
    [earlier.data],
  );
  const failed = [overview, sums, names].find(({ isError }) => isError);
  const isUsed = (overview.data?.now.requests ?? 0) > 0;

  return (
    <>
      <header className="top">
        <h1>{say(isHome ? 'app.home' : 'overview.title')}</h1>
        <RangeSegments range={range} />
      </header>
      <div className={`body ${styles['page']}`}>
        {overview.data?.simulated === true && <Simulated />}
        {isHome && <LimitsLeft />}
        {failed !== undefined && (
          <ErrorState
            error={failed.error}
            onRetry={() => {
              for (const query of [overview, sums, names]) void query.refetch();
            }}
          />
        )}
        {overview.data === undefined ? (
          failed === undefined && <Skeleton rows={8} />
        ) : (
          <>
            {isUsed ? (
              <div className={overview.isPlaceholderData ? 'stale' : undefined}>
                <Figures overview={overview.data} />
              </div>
            ) : (
              <p className="state">{say('overview.empty')}</p>
            )}
            <div className={styles['two']}>
              {isUsed && (
                <section
                  className={`${styles['sums']} ${sums.isPlaceholderData || names.isPlaceholderData ? 'stale' : ''}`}
                >
                  <header className={styles['head']}>
                    <h2 className="title">
                      {say(`explore.metrics.${metric}`)}{' '}
                      <span className="quiet">
                        {say('explore.by', {
                          name: say(`explore.dimensions.${group}`).toLowerCase(),
                        })}
                      </span>
                    </h2>
                    <Switch
                      label={say('explore.metric')}
                      name="metric"
                      values={overviewMetrics}
                      value={metric}
                      text={(value) => say(`explore.metrics.${value}`)}
                    />
                    <Switch
                      label={say('explore.group')}
                      name="group"
                      values={overviewDimensions}
                      value={group}
                      text={(value) => say(`explore.dimensions.${value}`)}
                    />
                  </header>
                  {bucket !== 'hour' && zoneOfDays(zone) !== zone && (
                    <p className="quiet">{say('explore.daysOfUtc', { zone })}</p>
                  )}
                  {sums.data === undefined ? (
                    <Skeleton rows={6} />
                  ) : (
                    <StackedBars
                      label={say('explore.chart')}
                      bars={(sums.data.buckets ?? []).map(({ name }) => formats.part(name))}
                      partial={partialOf(sums.data, zoneOfDays(zone))}
                      series={seriesOf(sums.data, group, metric, false, say)}
                      format={(value) =>
                        metric === 'cost'
                          ? `${formats.amount(value)} USD`
                          : formats.count(Math.round(value))
                      }
                      onPick={(at) => {
                        const part = sums.data.buckets?.[at];
                        if (part === undefined) return;
                        const { from, to } = part;
                        void navigate({ to: '/requests', search: { from, to } });
                      }}
                    />
                  )}
                  {names.data !== undefined && (
                    <SumsTable
                      sums={names.data}
                      dimension={group}
                      colored={8}
                      before={amounts}
                      isShort
                    />
                  )}
                </section>
              )}
              <Attention attention={overview.data.attention} />
            </div>
            {isUsed && <LastFailures overview={overview.data} />}
            {!isHome && (
              <section>
                <h2 className="title">{say('left.title')}</h2>
                <LimitsLeft />
              </section>
            )}
          </>
        )}
      </div>
    </>
  );
}

function useSums(query: Query<'sumUsage'>, enabled = true) {
  return useQuery({
    queryKey: ['sums', query],
    enabled,
    queryFn: ({ signal }) => read<'sumUsage'>('/usage/sums', query, signal),
    refetchInterval: again,
    placeholderData: (previous) => previous,
  });
}

interface SwitchProps<Value extends string> {
  readonly label: string;
  readonly name: 'metric' | 'group';
  readonly values: readonly Value[];
  readonly value: Value;
  readonly text: (value: Value) => string;
}

function Switch<Value extends Dimension | (OverviewSearch['metric'] & string)>({
  label,
  name,
  values,
  value,
  text,
}: SwitchProps<Value>) {
  const search = useSearch({ from: '/inside/' });
  return (
    <nav className="segments" aria-label={label}>
      {values.map((each) => (
        <Link
          key={each}
          to="/"
          search={{ ...search, [name]: each } as OverviewSearch}
          aria-current={each === value ? 'true' : undefined}
        >
          {text(each)}
        </Link>
      ))}
    </nav>
  );
}
