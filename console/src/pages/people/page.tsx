import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, type ReactNode } from 'react';
import { read } from '../../api/client.ts';
import { sumOf } from '../../format/exact.ts';
import { limitState } from '../../format/limit.ts';
import { placesOf } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { Gauge } from '../../pieces/meter.tsx';
import { Money } from '../../pieces/money.tsx';
import { inOrder, nextOrder } from '../../pieces/order.ts';
import { PagedList } from '../../pieces/paged-list.tsx';
import { RowMenu } from '../../pieces/row-menu.tsx';
import { SortHead } from '../../pieces/sort-head.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { useRowFocus } from '../../pieces/use-row-focus.ts';
import { useSettled } from '../../pieces/use-settled.ts';
import { SearchField } from '../../pieces/search-field.tsx';
import { roleText } from '../../pieces/role-text.ts';
import { useWords } from '../../words/index.ts';
import { InvitePerson } from './invite-person.tsx';
import styles from './page.module.css';
import { nameOfPerson, peopleKey, type User } from './query.ts';
import type { Order, PeopleSearch, Sortable } from './search.ts';
import { PersonState, stateOf } from './state.tsx';
import { usePersonActions } from './use-person-actions.tsx';

const valueOf: Readonly<Record<Sortable, (user: User) => number | string | null>> = {
  person: (user) => nameOfPerson(user).toLowerCase(),
  role: ({ role }) => role,
  state: stateOf,
  left: (user) => (user.limit === null ? null : Number(leftOf(user))),
  balance: ({ balance }) => Number(balance),
  spent: ({ usage }) => Number(usage.cost),
  keys: ({ keys }) => keys,
  seen: ({ last_seen_at: seen }) => seen,
};

const leftOf = ({ limit }: User) => (limit === null ? null : limitState(limit, 0).left);

const isHighFirst = (column: Sortable) => ['balance', 'spent', 'keys', 'seen'].includes(column);

/** Everybody who has an account, with what they have and spend. They are invited, changed and signed out here. */
export function PeoplePage(): ReactNode {
  const say = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/people' });
  const { q = '', sort, invite = false } = search;
  const searched = useSettled(q.trim());
  const actions = usePersonActions();
  const { list, items } = usePagedList({
    queryKey: [...peopleKey, 'people', searched],
    readPage: (cursor, signal) =>
      read<'listUsers'>(
        '/users',
        {
          limit: '200',
          ...(searched !== '' && { q: searched }),
          ...(cursor !== undefined && { cursor }),
        },
        signal,
      ),
    isOrdered: sort !== undefined,
  });
  const users = inOrder(items, sort, valueOf);
  const go = (next: PeopleSearch, replace = true) =>
    void navigate({ to: '/people', search: next, replace });
  const { invite: _, ...kept } = search;
  const openInvitation = () => {
    if (actions.mayWrite) go({ ...kept, invite: true }, false);
  };
  const field = useRef<HTMLInputElement>(null);
  useKeys({ n: openInvitation, '/': () => field.current?.focus() });

  return (
    <>
      <header className="top">
        <h1>{say('people.title')}</h1>
        {actions.mayWrite && (
          <button type="button" className="button main" onClick={openInvitation}>
            {say('people.invite')}
          </button>
        )}
      </header>
      <div className={styles['tools']}>
        <SearchField
          id="people-search"
          label={say('people.search')}
          hint={say('people.searchHint')}
          value={q}
          onChange={(text) =>
            go({
              ...(sort !== undefined && { sort }),
              ...(text !== '' && { q: text }),
            })
          }
          field={field}
        />
      </div>
      <div className="body">
        {actions.notes}
        <PagedList
          list={list}
          isEmpty={users.length === 0}
          empty={say('people.noMatch')}
          more={say('people.more')}
          note={say('people.span')}
        >
          <PeopleTable
            users={users}
            isWhole={!list.hasNextPage}
            order={sort}
            onOrder={(column) => {
              const next = nextOrder(column, sort, isHighFirst(column));
              go({ ...(q !== '' && { q }), ...(next !== undefined && { sort: next }) });
            }}
            actions={actions}
          />
        </PagedList>
      </div>
      {invite && actions.mayWrite && (
        <InvitePerson
          onInvited={(name, invitation) => {
            go(kept);
            void client.invalidateQueries({ queryKey: peopleKey });
            actions.showLink(name, invitation);
          }}
          onClose={() => go(kept)}
        />
      )}
      {actions.dialogs}
    </>
  );
}

interface TableProps {
  readonly users: readonly User[];
  /** Whether these are all of them. */
  readonly isWhole: boolean;
  readonly order: Order | undefined;
  readonly onOrder: (column: Sortable) => void;
  readonly actions: ReturnType<typeof usePersonActions>;
}

function PeopleTable({ users, isWhole, order, onOrder, actions }: TableProps) {
  const say = useWords();
  const formats = useFormats();
  const table = useRef<HTMLDivElement>(null);
  useRowFocus(table);
  const balance = sumOf(users.map((user) => user.balance));
  const spent = sumOf(users.map(({ usage }) => usage.cost));
  const places = {
    left: placesOf(users.map(leftOf)),
    balance: placesOf([balance, ...users.map((user) => user.balance)]),
    spent: placesOf([spent, ...users.map(({ usage }) => usage.cost)]),
  };
  const head = (column: Sortable, className?: string) => (
    <SortHead
      column={column}
      label={say(`people.columns.${column}`)}
      className={className}
      order={order}
      onOrder={onOrder}
    />
  );
  return (
    <div ref={table} className="scroll" tabIndex={0} role="region" aria-label={say('people.title')}>
      <table className={`table pinned stacks ${styles['table']}`}>
        <thead>
          <tr>
            {head('person')}
            <th scope="col" className="least">
              {say('people.columns.teams')}
            </th>
            {head('role')}
            {head('state')}
            {head('left', 'number')}
            {head('balance', 'number')}
            {head('spent', 'number')}
            {head('keys', 'number least')}
            {head('seen')}
            <th scope="col" data-column="actions">
              <span className="hidden">{say('people.columns.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {users.map((user) => (
            <tr key={user.id}>
              <td data-column="person" title={user.email}>
                <span className="line">
                  <Link className="link strong cut" to="/people/$id" params={{ id: user.id }}>
                    {nameOfPerson(user)}
                  </Link>
                  {user.name !== null && <small className="quiet cut">{user.email}</small>}
                </span>
              </td>
              <td
                className="least"
                data-column="teams"
                title={user.teams.map(({ name }) => name).join(', ')}
              >
                <span className="cut">
                  {user.teams.map(({ id, name }, at) => (
                    <span key={id}>
                      {at > 0 && ', '}
                      <Link to="/teams/$id" params={{ id }}>
                        {name}
                      </Link>
                    </span>
                  ))}
                </span>
              </td>
              <td data-column="role">
                <span className={user.role === 'member' ? 'quiet' : undefined}>
                  {roleText(user.role, say)}
                </span>
              </td>
              <td data-column="state">
                <PersonState of={user} />
              </td>
              <td className="number" data-column="left">
                {user.limit !== null && (
                  <span className={styles['left']}>
                    <Gauge name={say('people.person.quota')} limit={user.limit} />
                    <Money amount={limitState(user.limit, 0).left} width={places.left} />
                  </span>
                )}
              </td>
              <td
                className="number"
                data-column="balance"
                data-label={say('people.columns.balance')}
              >
                <Money amount={user.balance} width={places.balance} />
              </td>
              <td className="number" data-column="spent" data-label={say('people.columns.spent')}>
                <Money amount={user.usage.cost} width={places.spent} />
              </td>
              <td className="number least" data-column="keys">
                {user.keys}
              </td>
              <td data-column="seen">
                {user.last_seen_at === null ? '–' : formats.moment(user.last_seen_at)}
              </td>
              <td data-column="actions">
                <RowMenu
                  label={say('people.actionsOf', { name: nameOfPerson(user) })}
                  actions={actions.actionsOf(user)}
                />
              </td>
            </tr>
          ))}
        </tbody>
        {isWhole && users.length > 1 && (
          <tfoot>
            <tr>
              <td data-column="person">
                {say('people.count', { count: users.length, number: formats.count(users.length) })}
              </td>
              <td className="least" data-column="teams" />
              <td data-column="role" />
              <td data-column="state" />
              <td data-column="left" />
              <td
                className="number"
                data-column="balance"
                data-label={say('people.columns.balance')}
              >
                <Money amount={balance} width={places.balance} />
              </td>
              <td className="number" data-column="spent" data-label={say('people.columns.spent')}>
                <Money amount={spent} width={places.spent} />
              </td>
              <td className="number least" data-column="keys">
                {formats.count(users.reduce((total, { keys }) => total + keys, 0))}
              </td>
              <td data-column="seen" />
              <td data-column="actions" />
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}
