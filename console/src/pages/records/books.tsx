import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { read, type Query, type Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { NameLink } from '../../pieces/name-link.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Table } from '../../pieces/table.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { useSettled } from '../../pieces/use-settled.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { Reconcile } from './reconcile.tsx';

type BookPage = Result<'readBooks'>;

/** What everybody has, where it came from and where it went; and whether the books agree with the requests. */
export function Books() {
  const say = useWords();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/records' });
  const { q = '' } = search;
  const searched = useSettled(q.trim());
  const list = useInfiniteQuery({
    queryKey: ['books', searched],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) => {
      const query: Query<'readBooks'> = {
        ...(searched !== '' && { q: searched }),
        ...(pageParam !== undefined && { cursor: pageParam }),
      };
      return read<'readBooks'>('/books', query, signal);
    },
    getNextPageParam: ({ next }) => next ?? undefined,
    placeholderData: (previous) => previous,
  });
  useKeys({ '/': () => document.getElementById('account-search')?.focus() });
  const [first] = list.data?.pages ?? [];
  const accounts = list.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <>
      {list.isError && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending && <Skeleton rows={8} />}
      {first !== undefined && <Figures books={first} />}
      <div className={styles['two']}>
        {first !== undefined && (
          <section aria-label={say('records.accounts')}>
            <header className={styles['head']}>
              <h2 className="title">{say('records.accounts')}</h2>
              <input
                className="input"
                id="account-search"
                type="search"
                aria-label={say('records.searchAccounts')}
                placeholder={say('records.searchAccounts')}
                value={q}
                maxLength={64}
                autoComplete="off"
                spellCheck={false}
                onChange={({ target }) => {
                  const { q: _q, ...rest } = search;
                  void navigate({
                    to: '/records',
                    replace: true,
                    search: target.value === '' ? rest : { ...rest, q: target.value },
                  });
                }}
              />
            </header>
            {accounts.length === 0 ? (
              <p className="state">{say('records.noAccounts')}</p>
            ) : (
              <div className={list.isPlaceholderData ? 'stale' : undefined}>
                <AccountTable accounts={accounts} />
              </div>
            )}
            {list.hasNextPage && (
              <p className={styles['end']}>
                <button
                  type="button"
                  className="button"
                  disabled={list.isFetchingNextPage}
                  onClick={() => void list.fetchNextPage()}
                >
                  {say('records.moreAccounts')}
                </button>
              </p>
            )}
          </section>
        )}
        <Reconcile />
      </div>
    </>
  );
}

/** The sums of all accounts. */
function Figures({ books }: { readonly books: BookPage }) {
  const say = useWords();
  const formats = useFormats();
  const { balances, people, teams, revenue, funding, operator_loss: corrected, total } = books;
  const figures = [
    {
      name: say('records.onBalances'),
      amount: balances,
      hint: say('records.ofAccounts', {
        people: formats.count(people.accounts),
        teams: formats.count(teams.accounts),
      }),
    },
    {
      name: say('records.paidIn'),
      amount: negated(funding.amount),
      hint: say('records.entries', {
        count: funding.entries,
        number: formats.count(funding.entries),
      }),
    },
    { name: say('records.used'), amount: revenue, hint: say('records.byRequests') },
    {
      name: say('records.corrected'),
      amount: negated(corrected.amount),
      hint: say('records.entries', {
        count: corrected.entries,
        number: formats.count(corrected.entries),
      }),
    },
  ];
  const isBalanced = Number(total) === 0;
  return (
    <dl className={styles['figures']}>
      {figures.map(({ name, amount, hint }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Money amount={amount} /> <small>USD</small>
          </dd>
          <dd className={styles['than']}>{hint}</dd>
        </div>
      ))}
      <div>
        <dt>{say('records.together')}</dt>
        <dd className={isBalanced ? undefined : 'failed'}>
          {isBalanced ? '0' : <Money amount={total} isExact />} <small>USD</small>
        </dd>
        <dd className={styles['than']}>
          {say(isBalanced ? 'records.asItMust' : 'records.notBalanced')}
        </dd>
      </div>
    </dl>
  );
}

/** The same amount with the other sign. */
const negated = (amount: string): string =>
  amount.startsWith('-') ? amount.slice(1) : Number(amount) === 0 ? amount : `-${amount}`;

const places = 4;

function AccountTable({ accounts }: { readonly accounts: BookPage['data'] }) {
  const say = useWords();
  return (
    <Table
      label={say('records.accounts')}
      heads={[
        say('records.account'),
        [say('records.holder'), 'less'],
        [say('records.credited'), 'number less'],
        [say('records.spent'), 'number less'],
        [say('records.balance'), 'number'],
      ]}
    >
      {accounts.map(({ kind, id, name, credited, spent, balance }) => (
        <tr key={`${kind} ${id}`}>
          <td className={styles['name']}>
            <NameLink kind={kind} name={name}>
              {name}
            </NameLink>
          </td>
          <td className="less second">{say(`records.kinds.${kind}`)}</td>
          <td className="number less">
            <Money amount={credited} width={places} />
          </td>
          <td className="number less">
            <Money amount={spent} width={places} />
          </td>
          <td className={Number(balance) < 0 ? 'number failed' : 'number'}>
            <Money amount={balance} width={places} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
