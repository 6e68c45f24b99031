import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read, write, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords, type TextName } from '../../words/index.ts';
import { en } from '../../words/en.ts';
import styles from './page.module.css';

type State = Result<'readReconciliation'>;
type Last = NonNullable<State['last']>;
type Difference = Last['first'][number];

/** Milliseconds between two looks at one that is under way. */
const lookEvery = 1_000;
const queryKey = ['reconcile'];

/** Whether the books agree with the requests: the last comparison, and a button for another. */
export function Reconcile() {
  const say = useWords();
  const session = useSession();
  const client = useQueryClient();
  const writing = useWrite();
  const state = useQuery({
    queryKey,
    queryFn: ({ signal }) => read<'readReconciliation'>('/reconcile', {}, signal),
    refetchInterval: ({ state: { data } }) => (data?.running == null ? false : lookEvery),
  });
  const { running, last } = state.data ?? { running: null, last: null };
  return (
    <section aria-label={say('records.reconcile')}>
      <header className={styles['head']}>
        <h2 className="title">{say('records.reconcile')}</h2>
        {session.permissions.includes('credits.write') && (
          <button
            type="button"
            className="button"
            disabled={writing.isBusy || running !== null}
            onClick={() =>
              writing.run(async () => {
                const begun = await write<'startReconciliation'>(
                  'POST',
                  '/reconcile',
                  {},
                  session.csrf_token,
                );
                client.setQueryData(queryKey, begun);
                await client.invalidateQueries({ queryKey: ['books'] });
              })
            }
          >
            {say('records.reconcileNow')}
          </button>
        )}
      </header>
      <p className="problem" role="alert">
        {writing.problem}
      </p>
      {state.isError && <ErrorState error={state.error} onRetry={() => void state.refetch()} />}
      {state.isPending && <Skeleton rows={4} />}
      {running !== null && <Running running={running} />}
      {state.isSuccess && running === null && last === null && (
        <p className="second">{say('records.neverReconciled')}</p>
      )}
      {last !== null && <LastOne last={last} />}
    </section>
  );
}

function Running({ running }: { readonly running: NonNullable<State['running']> }) {
  const say = useWords();
  const formats = useFormats();
  return (
    <p className="second" role="status">
      {say('records.reconciling', { time: formats.time(running.since), name: running.by })}
    </p>
  );
}

function LastOne({ last }: { readonly last: Last }) {
  const say = useWords();
  const formats = useFormats();
  const { differences, failure, checked, late, first } = last;
  const look = failure !== null ? 'warned' : differences > 0 ? 'failed' : 'fine';
  const title =
    failure !== null
      ? say('records.reconcileFailed')
      : differences > 0
        ? say('records.differences', { count: differences, number: formats.count(differences) })
        : say('records.noDifference');
  const checkedKinds = Object.entries(checked);
  return (
    <>
      <div className={`${styles['verdict']} ${styles[look]}`} role="status">
        <p className={`outcome ${look} strong`}>
          <Icon name={look === 'fine' ? 'tick' : look === 'failed' ? 'cross' : 'warning'} />
          {title}
        </p>
        <p className="second">
          {say('records.reconciledAt', {
            time: formats.time(last.time),
            name: last.by,
            duration: formats.duration(last.seconds * 1_000),
          })}
        </p>
        {failure !== null && <code>{failure}</code>}
      </div>
      {first.length > 0 && <Differences differences={first} total={differences} />}
      {checkedKinds.length > 0 && (
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{say('records.check')}</th>
              <th scope="col" className="number">
                {say('records.compared')}
              </th>
            </tr>
          </thead>
          <tbody>
            {checkedKinds.map(([name, count]) => (
              <tr key={name}>
                <td>
                  {Object.hasOwn(en.records.checks, name)
                    ? say(`records.checks.${name}` as TextName)
                    : name}
                </td>
                <td className="number">{formats.count(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {late.rows > 0 && (
        <p className="second">
          {say('records.late', {
            count: late.rows,
            number: formats.count(late.rows),
            amount: late.usd,
          })}
        </p>
      )}
    </>
  );
}

/** Those whose subject is a request. */
const ofRequests: readonly string[] = ['receipt', 'price', 'charge'];

function Differences({
  differences,
  total,
}: {
  readonly differences: readonly Difference[];
  readonly total: number;
}) {
  const say = useWords();
  const textOf = ({ check, subject, expected, found }: Difference) =>
    `${check} ${subject}: expected ${expected}, found ${found}`;
  return (
    <div className={styles['differences']}>
      <ul>
        {differences.map((difference) => (
          <li key={textOf(difference)}>
            <code>{textOf(difference)}</code>{' '}
            {ofRequests.includes(difference.check) && (
              <Link className="link" to="/requests/$id" params={{ id: difference.subject }}>
                {say('records.toRequest')}
              </Link>
            )}
          </li>
        ))}
      </ul>
      <p className="second">
        {total > differences.length &&
          `${say('records.firstOnes', { count: differences.length })} `}
        {say('records.keepThis')}
      </p>
      <CopyButton text={differences.map(textOf).join('\n')} />
    </div>
  );
}
