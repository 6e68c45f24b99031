import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { NameLink } from '../../pieces/name-link.tsx';
import { resultText } from '../../pieces/result-text.ts';
import { Outcome } from '../../pieces/outcome.tsx';
import { Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import type { Overview } from './page.tsx';
import styles from './page.module.css';

const filter = 'outcome:failed';

/** The last requests that failed. */
export function LastFailures({ overview: { now } }: { readonly overview: Overview }) {
  const say = useWords();
  const formats = useFormats();
  const span = { from: now.from, to: now.to };
  const { data } = useQuery({
    queryKey: ['failures', now.from, now.to],
    queryFn: ({ signal }) =>
      read<'listUsage'>('/usage', { ...span, outcome: 'failed', limit: '6' }, signal),
    placeholderData: (previous) => previous,
  });
  return (
    <section className={styles['sums']}>
      <header className={styles['head']}>
        <h2 className="title">{say('overview.lastFailures')}</h2>
        {now.failed - now.refused > 0 && (
          <Link className="link" to="/requests" search={{ ...span, filter }}>
            {say('overview.all', { number: formats.count(now.failed - now.refused) })}
          </Link>
        )}
      </header>
      {data === undefined && <Skeleton rows={3} />}
      {data?.data.length === 0 && <p className="second">{say('overview.noFailures')}</p>}
      {data !== undefined && data.data.length > 0 && (
        <Table
          className="stacks wraps"
          label={say('overview.lastFailures')}
          heads={[
            say('requests.columns.time'),
            say('requests.columns.outcome'),
            say('requests.columns.model'),
            say('requests.columns.route'),
            say('overview.why'),
            say('requests.columns.key'),
          ]}
        >
          {data.data.map((row) => (
            <tr key={row.id}>
              <td>
                <Link
                  className="link"
                  to="/requests"
                  search={{ ...span, filter, open: row.id }}
                  aria-label={say('requests.open', {
                    time: formats.time(row.time),
                    id: row.id,
                  })}
                >
                  {formats.time(row.time)}
                </Link>
              </td>
              <td>
                <Outcome outcome={row.outcome} status={row.status} />
              </td>
              <td>
                <NameLink kind="model" name={row.model} />
              </td>
              <td>
                {row.attempts.map(({ channel, started_at }, at) => (
                  <span key={`${started_at} ${channel}`}>
                    {at > 0 && <span className="quiet"> → </span>}
                    <s className="second">
                      <NameLink kind="channel" name={channel} />
                    </s>
                  </span>
                ))}
              </td>
              <td className="second long">
                {row.attempts.length === 0
                  ? row.error !== null && resultText(row.error, say)
                  : row.attempts
                      .map(({ status, result }) =>
                        status === null || status === 200
                          ? resultText(result, say)
                          : `${status} ${resultText(result, say)}`,
                      )
                      .join(', ')}
              </td>
              <td>
                <NameLink kind="key" name={row.key} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
