import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { read } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { limitState } from '../../format/limit.ts';
import { useFormats } from '../../format/numbers.ts';
import { Gauge } from '../../pieces/meter.tsx';
import { Money } from '../../pieces/money.tsx';
import { PagedList } from '../../pieces/paged-list.tsx';
import { RowMenu } from '../../pieces/row-menu.tsx';
import { SearchField } from '../../pieces/search-field.tsx';
import { usePagedList } from '../../pieces/use-paged-list.ts';
import { useRowFocus } from '../../pieces/use-row-focus.ts';
import { useSettled } from '../../pieces/use-settled.ts';
import { useWords } from '../../words/index.ts';
import { filterWord } from '../requests/filter.ts';
import styles from '../people/page.module.css';
import { peopleKey } from '../people/query.ts';
import type { Member } from './member-forms.tsx';
import own from './page.module.css';
import type { Team } from './query.ts';

interface Props {
  readonly team: Team;
  readonly mayManage: boolean;
  readonly onChange: (member: Member) => void;
  readonly onRemove: (member: Member) => void;
}

/** Places of the column of amounts. */
const places = 4;
/** Members that are found without a search. */
const few = 10;

/** Who belongs to a team, the one who spent most first. */
export function Members(props: Props) {
  const say = useWords();
  const { id, member_count: count } = props.team;
  const [q, setQ] = useState('');
  const search = useSettled(q.trim());
  const { list, items } = usePagedList({
    queryKey: [...peopleKey, 'team', id, 'members', search],
    readPage: (cursor, signal) =>
      read<'listMembers'>(
        `/teams/${id}/members`,
        { ...(search !== '' && { q: search }), ...(cursor !== undefined && { cursor }) },
        signal,
      ),
    isOrdered: false,
  });
  return (
    <>
      {count > few && (
        <SearchField
          id="members-search"
          label={say('teams.members.search')}
          hint={say('teams.members.searchHint')}
          value={q}
          onChange={setQ}
        />
      )}
      <PagedList
        list={list}
        isEmpty={items.length === 0}
        empty={say(search === '' ? 'teams.members.none' : 'teams.members.noMatch')}
        more={say('teams.members.more')}
      >
        <MemberTable {...props} members={items} />
      </PagedList>
    </>
  );
}

function MemberTable({
  team,
  members,
  mayManage,
  onChange,
  onRemove,
}: Props & { readonly members: readonly Member[] }) {
  const say = useWords();
  const formats = useFormats();
  const seesPeople = useSession().permissions.includes('users.read');
  const table = useRef<HTMLDivElement>(null);
  useRowFocus(table);
  const total = Number(team.usage.cost);
  return (
    <div
      ref={table}
      className="scroll"
      tabIndex={0}
      role="region"
      aria-label={say('teams.members.title')}
    >
      <table className={`table pinned ${own['members']}`}>
        <thead>
          <tr>
            <th scope="col">{say('teams.members.person')}</th>
            <th scope="col">{say('teams.members.role')}</th>
            <th scope="col" className="number less">
              {say('teams.members.part')}
            </th>
            <th scope="col" className="number">
              {say('teams.members.spent')}
            </th>
            <th scope="col" className="number">
              {say('teams.members.left')}
            </th>
            {mayManage && (
              <th scope="col">
                <span className="hidden">{say('people.columns.actions')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {members.map((member) => {
            const { user, role, limit, usage } = member;
            const name = member.name ?? user;
            const spent = Number(usage.cost);
            return (
              <tr key={member.id}>
                <td title={user}>
                  {seesPeople ? (
                    <Link className="link strong" to="/people/$id" params={{ id: member.id }}>
                      {name}
                    </Link>
                  ) : (
                    <Link
                      className="link strong"
                      to="/requests"
                      search={{
                        range: '30d',
                        filter: `${filterWord('user', user)} ${filterWord('team', team.name)}`,
                      }}
                    >
                      {name}
                    </Link>
                  )}
                  {!member.enabled && (
                    <span className="quiet"> {say('people.states.disabled')}</span>
                  )}
                </td>
                <td>
                  {role === 'owner' ? (
                    say('teams.members.roles.owner')
                  ) : (
                    <span className="quiet">{say('teams.members.roles.member')}</span>
                  )}
                </td>
                <td className="number less">
                  {total === 0 ? '–' : `${formats.percent(spent / total)} %`}
                </td>
                <td className="number">
                  <Money amount={usage.cost} width={places} />
                </td>
                <td className="number">
                  {limit === null ? (
                    <span className="quiet">{say('teams.members.noLimit')}</span>
                  ) : (
                    <span className={styles['left']}>
                      <Gauge name={say('teams.members.budget')} limit={limit} />
                      <Money amount={limitState(limit, 0).left} width={places} />
                    </span>
                  )}
                </td>
                {mayManage && (
                  <td>
                    <RowMenu
                      label={say('people.actionsOf', { name })}
                      actions={[
                        { word: say('teams.members.change'), act: () => onChange(member) },
                        { word: say('teams.members.remove'), act: () => onRemove(member) },
                      ]}
                    />
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
