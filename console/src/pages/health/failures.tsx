import { Link } from '@tanstack/react-router';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { resultText } from '../../pieces/result-text.ts';
import { Table } from '../../pieces/table.tsx';
import { useWords } from '../../words/index.ts';
import { filterWord } from '../requests/filter.ts';
import type { Channel } from '../channels/list.ts';
import styles from './page.module.css';

/** Which channels fail: since when, what is to blame, and in which words. */
export function Failures({ channels }: { readonly channels: readonly Channel[] }) {
  const say = useWords();
  const failing = channels.filter(({ verdict }) => verdict === 'fails' || verdict === 'unsteady');
  if (failing.length === 0) return null;
  return (
    <section className={styles['section']}>
      <h2 className="title">
        {say('health.failing')} <small className="quiet">{say('health.failingHint')}</small>
      </h2>
      <Table
        label={say('health.failing')}
        className={styles['failures']}
        heads={[
          say('models.channel'),
          say('health.beginning'),
          [say('health.blame'), 'less'],
          say('health.said'),
          [say('health.kinds'), 'less'],
        ]}
      >
        {failing
          .toSorted((a, b) => (a.verdict < b.verdict ? -1 : 1))
          .map((channel) => (
            <Failure key={channel.name} channel={channel} />
          ))}
      </Table>
    </section>
  );
}

function Failure({ channel: { name, verdict, recent } }: { readonly channel: Channel }) {
  const say = useWords();
  const formats = useFormats();
  if (recent === null) return null;
  const { attempts, failed, errors, failing, last_failure: last } = recent;
  const isFailed = verdict === 'fails';
  const began = failing?.since ?? null;
  return (
    <tr>
      <td>
        <Link className="link strong cut" to="/channels/$id" params={{ id: name }}>
          {name}
        </Link>
      </td>
      <td>
        {began === null ? (
          <span className="second">{say('health.onAndOff')}</span>
        ) : (
          <span className="strong">{formats.time(began)}</span>
        )}
      </td>
      <td className="less">
        {last !== null && (
          <span className={`outcome ${isFailed ? 'failed' : 'warned'}`}>
            <Icon name={isFailed ? 'cross' : 'warning'} size={12} />
            {say(`health.blames.${last.blame}`)}
          </span>
        )}
      </td>
      <td className={styles['words']}>
        {last !== null && (
          <>
            <div>
              <Link className="link" to="/requests/$id" params={{ id: last.request }}>
                {formats.time(last.time)}
              </Link>
            </div>
            {last.status !== null && `${last.status} `}
            {last.words === null ? resultText(last.error, say) : <code>{last.words}</code>}
          </>
        )}
      </td>
      <td className={`less ${styles['words']}`}>
        <p>
          {say('health.ofAttempts', {
            count: attempts,
            failed: formats.count(failed),
            attempts: formats.count(attempts),
          })}
        </p>
        <ul>
          {errors.map(({ error, attempts: count }) => (
            <li key={error}>
              <Link
                className="link"
                to="/requests"
                search={{
                  filter: `${filterWord('tried', name)} ${filterWord('error', error)}`,
                  range: '24h',
                }}
              >
                {formats.count(count)} {resultText(error, say)}
              </Link>
            </li>
          ))}
        </ul>
      </td>
    </tr>
  );
}
