import { Link, useSearch } from '@tanstack/react-router';
import { read, searchText, type Result } from '../../api/client.ts';
import { useSpan } from '../../app/use-span.ts';
import { useFormats } from '../../format/numbers.ts';
import { EntryTable } from '../../pieces/entry-table.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { NameLink } from '../../pieces/name-link.tsx';
import { PagedList } from '../../pieces/paged-list.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { useWords } from '../../words/index.ts';
import { FilterChoice, FilterField, FilterForm } from './filter-form.tsx';
import styles from './page.module.css';
import { amountSigns, entryKinds } from './search.ts';

type Entry = Result<'listBookEntries'>['data'][number];

/** What people and teams were credited and charged in the range, newest first. */
export function BookEntries() {
  const say = useWords();
  const search = useSearch({ from: '/inside/records' });
  const { account, entry: kind, amount, reason: q } = search;
  const span = useSpan(search);
  const filter = {
    from: span.from,
    ...(span.to !== undefined && { to: span.to }),
    ...(account !== undefined && { account }),
    ...(kind !== undefined && { kind }),
    ...(amount !== undefined && { amount }),
    ...(q !== undefined && { q }),
  };
  const { list, items: entries } = usePagedList({
    queryKey: ['books', 'entries', filter],
    isOrdered: false,
    readPage: (cursor, signal) =>
      read<'listBookEntries'>(
        '/books/entries',
        { ...filter, ...(cursor !== undefined && { cursor }) },
        signal,
      ),
  });
  useKeys({ '/': () => document.getElementById('entry-account')?.focus() });
  return (
    <section aria-label={say('records.ledger')}>
      <header className={styles['head']}>
        <h2 className="title">{say('records.ledger')}</h2>
        <a
          className="button"
          href={`/admin/v1/books/entries/export?${searchText(filter)}`}
          download
        >
          <Icon name="down" />
          CSV<span className="hidden"> {say('records.exportEntries')}</span>
        </a>
      </header>
      <FilterForm names={['account', 'entry', 'amount', 'reason']}>
        <FilterField
          label={say('records.account')}
          id="entry-account"
          name="account"
          defaultValue={account}
          maxLength={300}
        />
        <FilterChoice
          label={say('people.entries.what')}
          none={say('records.everything')}
          name="entry"
          defaultValue={kind ?? ''}
          options={entryKinds.map((each) => [each, say(`people.entries.kinds.${each}`)])}
        />
        <FilterChoice
          label={say('records.amount')}
          none={say('records.everything')}
          name="amount"
          defaultValue={amount ?? ''}
          options={amountSigns.map((each) => [each, say(`records.signs.${each}`)])}
        />
        <FilterField
          label={say('records.whoAndWhy')}
          name="reason"
          defaultValue={q}
          maxLength={64}
        />
      </FilterForm>
      <PagedList
        list={list}
        isEmpty={entries.length === 0}
        empty={say('records.noEntries')}
        more={say('people.entries.more')}
      >
        <EntryTable
          label={say('records.ledger')}
          entries={entries}
          column={{
            title: say('records.account'),
            cell: accountOf,
          }}
          why={chargeOf}
        />
      </PagedList>
    </section>
  );
}

const accountOf = ({ account: { kind, name } }: Entry) => <NameLink kind={kind} name={name} />;

const chargeOf = (entry: Entry) => <Charged entry={entry} />;

/** What an entry of usage charged: the receipt of one request, or the list of several. */
function Charged({ entry: { id, account, requests } }: { readonly entry: Entry }) {
  const say = useWords();
  const formats = useFormats();
  if (requests === null) return null;
  const { count, id: request, from, to } = requests;
  const text = say('records.requests', { count, number: formats.count(count) });
  if (count === 1) {
    return (
      <Link className="link" to="/requests/$id" params={{ id: request }}>
        {text}
      </Link>
    );
  }
  const payer = account.kind === 'team' ? ` team:${account.id}` : ` user:${account.id}`;
  const until = new Date(Date.parse(to) + 1).toISOString();
  const filter = `transaction:${id}${payer}`;
  return (
    <Link className="link" to="/requests" search={{ filter, from, to: until }}>
      {text}
    </Link>
  );
}
