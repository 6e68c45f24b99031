import { useQuery } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { read, type Query, type Result } from '../../api/client.ts';
import { defaultRange, startOf, type Range } from '../../app/range.ts';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { RangeSegments } from '../../pieces/range-segments.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useWords } from '../../words/index.ts';
import { SpendChart } from './spend-chart.tsx';
import styles from './page.module.css';

type Read = Result<'sumUsage'>;
/** Sums by names or times; what is beyond the first names has no row of its own. */
export type Sums = Omit<Read, 'data'> & {
  readonly data: readonly (Read['data'][number] & { readonly name: string })[];
};

/** What was spent, on what, and by whom. */
export function OverviewPage() {
  const say = useWords();
  const { range = defaultRange } = useSearch({ from: '/inside/' });
  const by = range === '1h' || range === '24h' ? 'hour' : 'day';
  const times = useSums(range, by);
  const models = useSums(range, 'model');
  const keys = useSums(range, 'key');
  const failed = [times, models, keys].find(({ isError }) => isError);
  return (
    <>
      <header className="top">
        <h1>{say('overview.title')}</h1>
        <RangeSegments range={range} />
      </header>
      <div className={`body ${styles['page']}`}>
        {failed !== undefined && (
          <ErrorState
            error={failed.error}
            onRetry={() => {
              for (const sums of [times, models, keys]) void sums.refetch();
            }}
          />
        )}
        {times.data === undefined ? (
          failed === undefined && <Skeleton rows={8} />
        ) : times.data.requests === 0 ? (
          <p className="state">{say('overview.empty')}</p>
        ) : (
          <>
            <Figures sums={times.data} />
            <section>
              <h2 className="title">{say(by === 'hour' ? 'overview.byHour' : 'overview.byDay')}</h2>
              <SpendChart sums={times.data} by={by} />
            </section>
            <div className={styles['tables']}>
              <SumTable
                title={say('overview.byModel')}
                sums={models.data}
                word="model"
                range={range}
              />
              <SumTable title={say('overview.byKey')} sums={keys.data} word="key" range={range} />
            </div>
          </>
        )}
      </div>
    </>
  );
}

function useSums(range: Range, by: Query<'sumUsage'>['by']) {
  const from = useMemo(() => startOf(range), [range]);
  return useQuery({
    queryKey: ['sums', range, by],
    async queryFn({ signal }): Promise<Sums> {
      const sums = await read<'sumUsage'>('/usage/sums', { from, by }, signal);
      return {
        ...sums,
        data: sums.data.flatMap((sum) => (sum.name === null ? [] : [{ ...sum, name: sum.name }])),
      };
    },
    refetchInterval: 15_000,
    placeholderData: (previous) => previous,
  });
}

function Figures({ sums }: { readonly sums: Sums }) {
  const say = useWords();
  const formats = useFormats();
  const add = (count: (sum: Sums['data'][number]) => number) =>
    sums.data.reduce((total, sum) => total + count(sum), 0);
  const cached = add(({ tokens }) => tokens.cache_read);
  const written = add(({ tokens }) => tokens.cache_write + tokens.cache_write_1h);
  const input = add(({ tokens }) => tokens.input) + cached + written;
  const output = add(({ tokens }) => tokens.output);
  const good = sums.requests === 0 ? 1 : 1 - sums.failed / sums.requests;
  return (
    <dl className={styles['figures']}>
      <div>
        <dt>{say('overview.spend')}</dt>
        <dd>
          <Money amount={sums.cost} /> <small>USD</small>
        </dd>
      </div>
      <div>
        <dt>{say('overview.requests')}</dt>
        <dd>{formats.count(sums.requests)}</dd>
      </div>
      <div>
        <dt>{say('overview.success')}</dt>
        <dd>
          {formats.percent(good)} <small>%</small>
        </dd>
      </div>
      <div>
        <dt>{say('overview.tokens')}</dt>
        <dd>
          {formats.short(input)} <small>→</small> {formats.short(output)}
        </dd>
      </div>
      <div>
        <dt>{say('overview.cached')}</dt>
        <dd>
          {input === 0 ? '–' : formats.percent(cached / input)} <small>%</small>
        </dd>
      </div>
    </dl>
  );
}

interface SumTableProps {
  readonly title: string;
  readonly sums: Sums | undefined;
  /** Of the filter that a row opens. */
  readonly word: 'model' | 'key';
  readonly range: Range;
}

const costPlaces = 7;

function SumTable({ title, sums, word, range }: SumTableProps) {
  const say = useWords();
  const formats = useFormats();
  if (sums === undefined) return <Skeleton rows={4} />;
  return (
    <section className={styles['sums']}>
      <h2 className="title">{title}</h2>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{say('overview.name')}</th>
            <th scope="col" className="number">
              {say('overview.requests')}
            </th>
            <th scope="col" className="number">
              {say('overview.failed')}
            </th>
            <th scope="col" className="number">
              {say('overview.cost')}
            </th>
          </tr>
        </thead>
        <tbody>
          {sums.data.map(({ name, requests, failed, cost }) => (
            <tr key={name}>
              <td className={styles['name']}>
                {name === '' ? (
                  <span className="quiet">{say('overview.refused')}</span>
                ) : (
                  <Link
                    className="link"
                    to="/requests"
                    search={{
                      filter: `${word}:${/\s/.test(name) ? `"${name}"` : name}`,
                      ...(range !== defaultRange && { range }),
                    }}
                  >
                    {name}
                  </Link>
                )}
              </td>
              <td className="number">{formats.count(requests)}</td>
              <td className="number">
                {failed === 0 ? (
                  <span className="quiet">0</span>
                ) : (
                  <span className="failed">{formats.count(failed)}</span>
                )}
              </td>
              <td className="number">
                <Money amount={cost} width={costPlaces} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
