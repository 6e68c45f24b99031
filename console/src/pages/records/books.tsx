import { useNavigate, useSearch } from '@tanstack/react-router';
import { read, type Result } from '../../api/client.ts';
import { placesOf } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { Money } from '../../pieces/money.tsx';
import { NameLink } from '../../pieces/name-link.tsx';
import { PagedList } from '../../pieces/paged-list.tsx';
import { SearchField } from '../../pieces/search-field.tsx';
import { Table } from '../../pieces/table.tsx';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { useSettled } from '../../pieces/use-settled.ts';
import { useWords } from '../../words/index.ts';
import { BookEntries } from './entries.tsx';
import styles from './page.module.css';
import { Reconcile } from './reconcile.tsx';

type BookPage = Result<'readBooks'>;

const accountsAtOnce = '20';

/** What everybody has, where it came from and where it went; and whether the books agree with the requests. */
export function Books() {
  const say = useWords();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/records' });
  const { q = '' } = search;
  const searched = useSettled(q.trim());
  const { list, items: accounts } = usePagedList({
    queryKey: ['books', searched],
    isOrdered: false,
    readPage: (cursor, signal) =>
      read<'readBooks'>(
        '/books',
        {
          limit: accountsAtOnce,
          ...(searched !== '' && { q: searched }),
          ...(cursor !== undefined && { cursor }),
        },
        signal,
      ),
  });
  const [first] = list.data?.pages ?? [];
  return (
    <>
      {first !== undefined && <Figures books={first} />}
      <div className={styles['two']}>
        <BookEntries />
        <div className={styles['aside']}>
          <Reconcile />
          <section aria-label={say('records.accounts')}>
            <header className={styles['head']}>
              <h2 className="title">{say('records.accounts')}</h2>
              <SearchField
                id="account-search"
                label={say('records.searchAccounts')}
                hint={say('records.searchAccounts')}
                value={q}
                onChange={(text) => {
                  const { q: _q, ...rest } = search;
                  void navigate({
                    to: '/records',
                    replace: true,
                    search: text === '' ? rest : { ...rest, q: text },
                  });
                }}
              />
            </header>
            <PagedList
              list={list}
              isEmpty={accounts.length === 0}
              empty={say('records.noAccounts')}
              more={say('records.moreAccounts')}
            >
              <AccountTable accounts={accounts} />
            </PagedList>
          </section>
        </div>
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
    <dl className={`figures ${styles['figures']}`}>
      {figures.map(({ name, amount, hint }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Money amount={amount} /> <small>USD</small>
          </dd>
          <dd className="than">{hint}</dd>
        </div>
      ))}
      <div>
        <dt>{say('records.together')}</dt>
        <dd className={isBalanced ? undefined : 'failed'}>
          {isBalanced ? '0' : <Money amount={total} isExact />} <small>USD</small>
        </dd>
        <dd className="than">{say(isBalanced ? 'records.asItMust' : 'records.notBalanced')}</dd>
      </div>
    </dl>
  );
}

/** The same amount with the other sign. */
const negated = (amount: string): string =>
  amount.startsWith('-') ? amount.slice(1) : Number(amount) === 0 ? amount : `-${amount}`;

function AccountTable({ accounts }: { readonly accounts: readonly BookPage['data'][number][] }) {
  const say = useWords();
  const places = placesOf(accounts.map(({ balance }) => balance));
  return (
    <Table
      label={say('records.accounts')}
      heads={[say('records.account'), say('records.holder'), [say('records.balance'), 'number']]}
    >
      {accounts.map(({ kind, id, name, balance }) => (
        <tr key={`${kind} ${id}`}>
          <td className={styles['name']}>
            <NameLink kind={kind} name={name} />
          </td>
          <td className="second">{say(`records.kinds.${kind}`)}</td>
          <td className={Number(balance) < 0 ? 'number failed' : 'number'}>
            <Money amount={balance} width={places} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
