import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, type ReactNode } from 'react';
import { read } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { sumOf } from '../../format/exact.ts';
import { placesOf } from '../../format/money.ts';
import { useFormats } from '../../format/numbers.ts';
import { Gauge } from '../../pieces/meter.tsx';
import { Money } from '../../pieces/money.tsx';
import { inOrder, nextOrder } from '../../pieces/order.ts';
import { PagedList } from '../../pieces/paged-list.tsx';
import { SortHead } from '../../pieces/sort-head.tsx';
import { Toast } from '../../pieces/toast.tsx';
import { useKeys } from '../../pieces/use-keys.ts';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { useRowFocus } from '../../pieces/use-row-focus.ts';
import { useSettled } from '../../pieces/use-settled.ts';
import { SearchField } from '../../pieces/search-field.tsx';
import { useWords } from '../../words/index.ts';
import styles from '../people/page.module.css';
import { peopleKey } from '../people/query.ts';
import { useBudgetField } from './budget-field.tsx';
import { NewTeam } from './new-team.tsx';
import own from './page.module.css';
import type { ListedTeam } from './query.ts';
import type { Order, Sortable, TeamsSearch } from './search.ts';
import { stateOf, TeamState } from './state.tsx';
import { useBudgets, type SetBudget } from './use-budgets.ts';

const spentOf = (name: 'monthly' | 'daily') => (team: ListedTeam) => {
  const limit = team.limits.find((each) => each.name === name);
  return limit === undefined ? null : Number(limit.spent) / Number(limit.limit);
};

const valueOf: Readonly<Record<Sortable, (team: ListedTeam) => number | string | null>> = {
  team: ({ name }) => name.toLowerCase(),
  people: ({ member_count: count }) => count,
  monthly: spentOf('monthly'),
  daily: spentOf('daily'),
  balance: ({ balance }) => Number(balance),
  spent: ({ usage }) => Number(usage.cost),
  state: stateOf,
};

const isHighFirst = (column: Sortable) => column !== 'team' && column !== 'state';

/** Teams with what is left of their budgets; an owner sees the own ones. */
export function TeamsPage(): ReactNode {
  const say = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const search = useSearch({ from: '/inside/teams' });
  const { q = '', sort, make = false } = search;
  const mayWrite = useSession().permissions.includes('users.write');
  const searched = useSettled(q.trim());
  const { list, items } = usePagedList({
    queryKey: [...peopleKey, 'teams', searched],
    readPage: (cursor, signal) =>
      read<'listTeams'>(
        '/teams',
        {
          limit: '200',
          ...(searched !== '' && { q: searched }),
          ...(cursor !== undefined && { cursor }),
        },
        signal,
      ),
    isOrdered: sort !== undefined,
  });
  const teams = inOrder(items, sort, valueOf);
  const go = (next: TeamsSearch, replace = true) =>
    void navigate({ to: '/teams', search: next, replace });
  const { make: _, ...kept } = search;
  const openForm = () => {
    if (mayWrite) go({ ...kept, make: true }, false);
  };
  const field = useRef<HTMLInputElement>(null);
  const budgets = useBudgets();
  useKeys({ n: openForm, '/': () => field.current?.focus() });

  return (
    <>
      <header className="top">
        <h1>{say('teams.title')}</h1>
        {mayWrite && (
          <button type="button" className="button main" onClick={openForm}>
            {say('teams.new')}
          </button>
        )}
      </header>
      <div className={styles['tools']}>
        <SearchField
          id="teams-search"
          label={say('teams.search')}
          hint={say('teams.searchHint')}
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
        <p className="problem" role="alert">
          {budgets.problem}
        </p>
        <PagedList
          list={list}
          isEmpty={teams.length === 0}
          empty={
            searched === '' ? (
              <>
                <p className="strong">{say('teams.empty')}</p>
                <p>{say('teams.emptyHint')}</p>
              </>
            ) : (
              say('teams.noMatch')
            )
          }
          more={say('teams.more')}
          note={say('teams.span')}
        >
          <TeamTable
            teams={teams}
            isWhole={!list.hasNextPage}
            order={sort}
            onBudget={budgets.set}
            onOrder={(column) => {
              const next = nextOrder(column, sort, isHighFirst(column));
              go({ ...(q !== '' && { q }), ...(next !== undefined && { sort: next }) });
            }}
          />
        </PagedList>
      </div>
      <Toast toast={budgets.toast} onEnd={budgets.endToast} />
      {make && mayWrite && (
        <NewTeam
          onMade={({ id }) => {
            void client.invalidateQueries({ queryKey: peopleKey });
            void navigate({ to: '/teams/$id', params: { id } });
          }}
          onClose={() => go(kept)}
        />
      )}
    </>
  );
}

interface TableProps {
  readonly teams: readonly ListedTeam[];
  /** Whether these are all of them. */
  readonly isWhole: boolean;
  readonly order: Order | undefined;
  readonly onOrder: (column: Sortable) => void;
  readonly onBudget: SetBudget;
}

function TeamTable({ teams, isWhole, order, onOrder, onBudget }: TableProps) {
  const say = useWords();
  const formats = useFormats();
  const table = useRef<HTMLDivElement>(null);
  useRowFocus(table);
  const balance = sumOf(teams.map((team) => team.balance));
  const spent = sumOf(teams.map(({ usage }) => usage.cost));
  const balancePlaces = placesOf([balance, ...teams.map((team) => team.balance)]);
  const spentPlaces = placesOf([spent, ...teams.map(({ usage }) => usage.cost)]);
  const head = (column: Sortable, className?: string) => (
    <SortHead
      column={column}
      label={say(`teams.columns.${column}`)}
      className={className}
      order={order}
      onOrder={onOrder}
    />
  );
  return (
    <div ref={table} className="scroll" tabIndex={0} role="region" aria-label={say('teams.title')}>
      <table className={`table pinned stacks ${own['table']}`}>
        <thead>
          <tr>
            {head('team')}
            <th scope="col">{say('teams.columns.owner')}</th>
            {head('people', 'number')}
            {head('monthly')}
            {head('daily')}
            {head('balance', 'number')}
            {head('spent', 'number')}
            {head('state')}
          </tr>
        </thead>
        <tbody>
          {teams.map((team) => {
            return (
              <tr key={team.id}>
                <td data-column="team" title={team.name}>
                  <Link className="link strong cut" to="/teams/$id" params={{ id: team.id }}>
                    {team.name}
                  </Link>
                </td>
                <td data-column="owner" title={ownersOf(team)}>
                  <span className="cut">{ownersOf(team) || '–'}</span>
                </td>
                <td className="number" data-column="people">
                  {formats.count(team.member_count)}
                </td>
                {(['monthly', 'daily'] as const).map((name) => (
                  <td
                    key={name}
                    data-column={name}
                    data-label={say(`limits.${budgetOf(team, name)?.name ?? name}`)}
                  >
                    <BudgetCell team={team} name={name} onSet={onBudget} />
                  </td>
                ))}
                <td className="number" data-column="balance">
                  <Money amount={team.balance} width={balancePlaces} />
                </td>
                <td className="number" data-column="spent" data-label={say('teams.columns.spent')}>
                  <Money amount={team.usage.cost} width={spentPlaces} />
                </td>
                <td className="wrapping" data-column="state">
                  <TeamState of={team} />
                </td>
              </tr>
            );
          })}
        </tbody>
        {isWhole && teams.length > 1 && (
          <tfoot>
            <tr>
              <td data-column="team">
                {say('teams.count', { count: teams.length, number: formats.count(teams.length) })}
              </td>
              <td data-column="owner" />
              <td className="number" data-column="people">
                {formats.count(teams.reduce((all, { member_count: count }) => all + count, 0))}
              </td>
              <td data-column="monthly" />
              <td data-column="daily" />
              <td className="number" data-column="balance">
                <Money amount={balance} width={balancePlaces} />
              </td>
              <td className="number" data-column="spent">
                <Money amount={spent} width={spentPlaces} />
              </td>
              <td data-column="state" />
            </tr>
          </tfoot>
        )}
      </table>
    </div>
  );
}

/** One without a window stands in the first column of budgets, if that is free. */
function budgetOf({ limits }: ListedTeam, name: 'monthly' | 'daily') {
  const find = (wanted: string) => limits.find((each) => each.name === wanted);
  return find(name) ?? (name === 'monthly' ? find('total') : undefined);
}

const ownersOf = ({ owners }: ListedTeam) =>
  owners.map(({ name, user }) => name ?? user).join(', ');

function BudgetCell({
  team,
  name,
  onSet,
}: {
  readonly team: ListedTeam;
  readonly name: 'monthly' | 'daily';
  readonly onSet: SetBudget;
}) {
  const say = useWords();
  const formats = useFormats();
  const limit = budgetOf(team, name);
  const field = useBudgetField(onSet)(team, limit?.name ?? name);
  if (limit === undefined) {
    return field !== null ? (
      <span className={own['budget']}>{field}</span>
    ) : (
      <span className="quiet">{say('teams.noBudget')}</span>
    );
  }
  const amount = (text: string) => formats.amount(Number(text));
  return (
    <span className={own['budget']}>
      {field === null ? (
        <span>{say('teams.of', { spent: amount(limit.spent), limit: amount(limit.limit) })}</span>
      ) : (
        <span className={own['edited']}>
          {say('teams.of', { spent: amount(limit.spent), limit: '' })}
          {field}
        </span>
      )}
      <Gauge name={say(`limits.${limit.name}`)} limit={limit} />
    </span>
  );
}
