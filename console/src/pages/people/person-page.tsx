import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Meter } from '../../pieces/meter.tsx';
import { Money } from '../../pieces/money.tsx';
import { placeText } from '../../pieces/place-in-file.ts';
import { RowMenu } from '../../pieces/row-menu.tsx';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { roleText } from '../../pieces/role-text.ts';
import { useWords } from '../../words/index.ts';
import { filterWord } from '../requests/filter.ts';
import { Entries } from './entries.tsx';
import styles from './page.module.css';
import { nameOfPerson, personQuery, type User } from './query.ts';
import { SpentByModel } from './spent-by-model.tsx';
import { PersonState } from './state.tsx';
import { usePersonActions } from './use-person-actions.tsx';

/** One person: balance, quota, spending, account, and who it is. */
export function PersonPage(): ReactNode {
  const say = useWords();
  const { id } = useParams({ from: '/inside/people/$id' });
  const person = useQuery(personQuery(id));
  const actions = usePersonActions();
  const user = person.data;
  const isMissing = person.error instanceof ApiFailure && person.error.status === 404;
  return (
    <>
      <header className="top">
        <h1 className={styles['path']}>
          <Link className="quiet" to="/people">
            {say('people.title')}
          </Link>{' '}
          <span className="quiet">/</span> {user === undefined ? '' : nameOfPerson(user)}
        </h1>
        {user !== undefined && actions.mayCredit && (
          <button type="button" className="button" onClick={() => actions.credit(user)}>
            {say('people.credit.button')}
          </button>
        )}
        {user !== undefined && (
          <RowMenu
            label={say('people.actionsOf', { name: nameOfPerson(user) })}
            actions={actions.actionsOf(user)}
          />
        )}
      </header>
      <div className="body">
        {actions.notes}
        {isMissing && <p className="state">{say('people.person.missing')}</p>}
        {person.isError && !isMissing && (
          <ErrorState error={person.error} onRetry={() => void person.refetch()} />
        )}
        {person.isPending && <Skeleton rows={8} />}
        {user !== undefined && (
          <>
            <Figures of={user} />
            <div className={styles['split']}>
              <div>
                <SpentByModel of="user" name={user.email} />
                <Entries kind="user" id={user.id} />
              </div>
              <Facts of={user} />
            </div>
          </>
        )}
      </div>
      {actions.dialogs}
    </>
  );
}

function Figures({ of: user }: { readonly of: User }) {
  const say = useWords();
  const formats = useFormats();
  const requests = { range: '30d', filter: filterWord('user', user.email) } as const;
  return (
    <dl className="figures">
      <div>
        <dt>{say('people.person.balance')}</dt>
        <dd>
          <Money amount={user.balance} /> <small>USD</small>
        </dd>
      </div>
      <div>
        <dt>{say('people.person.spent')}</dt>
        <dd>
          <Money amount={user.usage.cost} /> <small>USD</small>
        </dd>
      </div>
      <div>
        <dt>{say('people.person.requests')}</dt>
        <dd>
          <Link to="/requests" search={requests}>
            {formats.count(user.usage.requests)}
          </Link>
        </dd>
      </div>
      <div>
        <dt>{say('people.person.seen')}</dt>
        <dd>
          {user.last_seen_at === null ? (
            <small>{say('people.person.never')}</small>
          ) : (
            formats.moment(user.last_seen_at)
          )}
        </dd>
      </div>
      <div className={styles['quota']}>
        {user.limit === null ? (
          <>
            <dt>{say('people.person.quota')}</dt>
            <dd>
              <small>{say('people.person.noQuota')}</small>
            </dd>
          </>
        ) : (
          <>
            <dt className="hidden">{say('people.person.quota')}</dt>
            <dd>
              <Meter name={say('people.person.quota')} limit={user.limit} />
            </dd>
          </>
        )}
      </div>
    </dl>
  );
}

function Facts({ of: user }: { readonly of: User }) {
  const say = useWords();
  const formats = useFormats();
  const { declared_in: place } = user;
  return (
    <aside className={styles['section']}>
      <h2 className="title">{say('people.person.facts')}</h2>
      <dl className={styles['facts']}>
        <dt>{say('people.columns.state')}</dt>
        <dd>
          <PersonState of={user} />
        </dd>
        <dt>{say('people.person.email')}</dt>
        <dd>{user.email}</dd>
        <dt>{say('people.person.role')}</dt>
        <dd>{roleText(user.role, say)}</dd>
        <dt>{say('people.person.teams')}</dt>
        <dd>
          {user.teams.length === 0 && say('people.person.noTeams')}
          {user.teams.map(({ id, name, role }, at) => (
            <span key={id}>
              {at > 0 && ', '}
              <Link className="link" to="/teams/$id" params={{ id }}>
                {name}
              </Link>{' '}
              {role === 'owner' && (
                <span className="quiet">{say('teams.members.roles.owner')}</span>
              )}
            </span>
          ))}
        </dd>
        <dt>{say('people.columns.keys')}</dt>
        <dd>
          <Link className="link" to="/keys" search={{ user: user.email }}>
            {say('people.person.keys', { count: user.keys, number: user.keys })}
          </Link>
        </dd>
        <dt>{say('people.person.groups')}</dt>
        <dd>{user.groups.length === 0 ? '–' : user.groups.join(', ')}</dd>
        <dt>{say('people.person.signIn')}</dt>
        <dd>
          {!user.has_password && say('people.states.noPassword')}
          {user.has_password &&
            say(user.second_factor ? 'people.person.factor' : 'people.person.password')}
          <br />
          <span className="quiet">
            {user.sessions === 0
              ? say('people.person.notSignedIn')
              : say('people.person.sessions', { count: user.sessions, number: user.sessions })}
          </span>
        </dd>
        <dt>{say('people.person.since')}</dt>
        <dd>{formats.day(user.created)}</dd>
        <dt>{say('people.person.managed')}</dt>
        <dd>{place === null ? say('people.person.console') : <code>{placeText(place)}</code>}</dd>
      </dl>
    </aside>
  );
}
