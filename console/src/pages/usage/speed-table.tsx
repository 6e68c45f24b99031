import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ApiFailure, read, type Query } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { inputOf, requestsOf, type Latency, type Sums } from '../../pieces/sums/sums.ts';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

interface Props {
  readonly by: 'model' | 'channel';
  readonly query: Pick<Query<'readLatency'>, 'from' | 'to' | 'filter'>;
  /** By the same dimension. */
  readonly sums: Sums;
  readonly filter: string;
}

/** How fast each model or channel was, how many of its requests succeeded, and how much came from caches. */
export function SpeedTable({ by, query, sums, filter }: Props) {
  const say = useWords();
  const formats = useFormats();
  const latency = useQuery({
    queryKey: ['latency', by, query],
    queryFn: ({ signal }) => read<'readLatency'>('/usage/latency', { ...query, by }, signal),
    placeholderData: (previous) => previous,
  });
  if (latency.isError) return <TimesError error={latency.error} />;
  if (latency.data === undefined) return <Skeleton rows={4} />;
  const times = new Map<string | null, Latency>(latency.data.data.map((each) => [each.name, each]));
  const rows = totalsOf(sums).filter(({ name }) => times.has(name));
  if (rows.length === 0) return null;
  const pair = (of: { readonly p50: number; readonly p95: number } | null) =>
    of === null ? '–' : `${formats.duration(of.p50)} · ${formats.duration(of.p95)}`;
  return (
    <section className={styles['table']} aria-label={say('explore.speed')}>
      <h2 className="title">
        {say('explore.speed')} <span className="quiet">p50 · p95</span>
      </h2>
      <Table
        label={say('explore.speed')}
        heads={[
          say(`explore.dimensions.${by}`),
          [say('explore.metrics.requests'), 'number less'],
          [say('explore.succeeded'), 'number'],
          [say('explore.firstToken'), 'number'],
          [say('explore.duration'), 'number'],
          [say('explore.cached'), 'number less'],
        ]}
      >
        {rows.map(({ name, requests, failed, input, cached }) => {
          const search = requestsOf([{ dimension: by, name }], sums, filter);
          const time = times.get(name);
          return (
            <tr key={name}>
              <td>
                <Link className="link" to="/requests" search={search ?? {}}>
                  {name}
                </Link>
              </td>
              <td className="number less">{formats.count(requests)}</td>
              <td className="number">
                {requests === 0 ? '–' : `${formats.share(1 - failed / requests)} %`}
              </td>
              <td className="number">{pair(time?.first_token_ms ?? null)}</td>
              <td className="number">{pair(time?.duration_ms ?? null)}</td>
              <td className="number less">
                {input === 0 ? '–' : `${formats.percent(cached / input)} %`}
              </td>
            </tr>
          );
        })}
      </Table>
    </section>
  );
}

/** Why there are no times: of many requests of persons or clients none are read. */
export function TimesError({ error }: { readonly error: unknown }) {
  const say = useWords();
  const isLong = error instanceof ApiFailure && error.fields.some(({ path }) => path === 'from');
  return isLong ? (
    <p className="state">{say('explore.timesOfMany')}</p>
  ) : (
    <ErrorState error={error} />
  );
}

/** What each name has in all, where sums have a second dimension. */
function totalsOf({ data }: Sums) {
  const totals = new Map<
    string,
    { name: string; requests: number; failed: number; input: number; cached: number }
  >();
  for (const sum of data) {
    const { name } = sum;
    if (name === null || name === '') continue;
    const total = totals.get(name) ?? { name, requests: 0, failed: 0, input: 0, cached: 0 };
    totals.set(name, {
      name,
      requests: total.requests + sum.requests,
      failed: total.failed + sum.failed - sum.refused,
      input: total.input + inputOf(sum),
      cached: total.cached + sum.tokens.cache_read,
    });
  }
  return [...totals.values()];
}
