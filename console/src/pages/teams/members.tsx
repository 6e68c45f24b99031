import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { read } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { limitState } from '../../format/limit.ts';
import { placesOf } from '../../format/money.ts';
import { Gauge } from '../../pieces/meter.tsx';
import { Money } from '../../pieces/money.tsx';
import { Percent } from '../../pieces/percent.tsx';
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
  const seesPeople = useSession().permissions.includes('users.read');
  const table = useRef<HTMLDivElement>(null);
  useRowFocus(table);
  const total = Number(team.usage.cost);
  const leftOf = ({ limit }: Member) => (limit === null ? null : limitState(limit, 0).left);
  const [places, leftPlaces] = [
    placesOf(members.map(({ usage }) => usage.cost)),
    placesOf(members.map(leftOf)),
  ];
  return (
    <div
      ref={table}
      className="scroll"
      tabIndex={0}
      role="region"
      aria-label={say('teams.members.title')}
    >
      <table className={`table pinned stacks wraps ${own['members']}`}>
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
                  <span className="line">
                    {seesPeople ? (
                      <Link className="link strong cut" to="/people/$id" params={{ id: member.id }}>
                        {name}
                      </Link>
                    ) : (
                      <Link
                        className="link strong cut"
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
                  </span>
                </td>
                <td>
                  {role === 'owner' ? (
                    say('teams.members.roles.owner')
                  ) : (
                    <span className="quiet">{say('teams.members.roles.member')}</span>
                  )}
                </td>
                <td className="number less">
                  {total === 0 ? '–' : <Percent of={spent / total} />}
                </td>
                <td className="number" data-label={say('teams.members.spent')}>
                  <Money amount={usage.cost} width={places} />
                </td>
                <td className="number" data-label={say('teams.members.left')}>
                  {limit === null ? (
                    <span className="quiet">{say('teams.members.noLimit')}</span>
                  ) : (
                    <span className={styles['left']}>
                      <Gauge name={say('teams.members.budget')} limit={limit} />
                      <Money amount={limitState(limit, 0).left} width={leftPlaces} />
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
