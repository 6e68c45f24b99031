import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Icon } from '../../pieces/icon.tsx';
import { Meter } from '../../pieces/meter.tsx';
import { Money } from '../../pieces/money.tsx';
import { placeText } from '../../pieces/place-in-file.ts';
import { ErrorState, Skeleton } from '../../pieces/states.tsx';
import { Toast } from '../../pieces/toast.tsx';
import { useWords } from '../../words/index.ts';
import { write } from '../../api/client.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { CreditAccount } from '../people/credit-account.tsx';
import { DisableHolder } from '../people/disable-holder.tsx';
import { Entries } from '../people/entries.tsx';
import { InvitePerson } from '../people/invite-person.tsx';
import styles from '../people/page.module.css';
import { peopleKey } from '../people/query.ts';
import { SpentByModel } from '../people/spent-by-model.tsx';
import { usePersonActions } from '../people/use-person-actions.tsx';
import { useBudgetField } from './budget-field.tsx';
import { ChangeTeam } from './change-team.tsx';
import { MemberForm, RemoveMember, type Member } from './member-forms.tsx';
import { Members } from './members.tsx';
import own from './page.module.css';
import { nearestLimit, teamQuery, type Team } from './query.ts';
import { TeamState } from './state.tsx';
import { useBudgets, type SetBudget } from './use-budgets.ts';

type Open =
  | { readonly kind: 'change' | 'credit' | 'add' | 'invite' | 'disable' }
  | { readonly kind: 'member' | 'remove'; readonly member: Member };

/** One team: what is left of its budgets, who belongs to it and spends what, and its account. */
export function TeamPage(): ReactNode {
  const say = useWords();
  const client = useQueryClient();
  const { id } = useParams({ from: '/inside/teams/$id' });
  const { permissions, teams, csrf_token: token } = useSession();
  const enabling = useWrite();
  const found = useQuery(teamQuery(id));
  const people = usePersonActions();
  const formats = useFormats();
  const [open, setOpen] = useState<Open | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const team = found.data;
  const isMissing = found.error instanceof ApiFailure && found.error.status === 404;
  const mayWrite = permissions.includes('users.write');
  const isOwner = teams.some(({ name, role }) => name === team?.name && role === 'owner');
  const budgets = useBudgets();
  const mayManage = team?.editable === true && (mayWrite || isOwner);
  const close = () => setOpen(null);
  const end = () => {
    void client.invalidateQueries({ queryKey: peopleKey });
    close();
  };
  async function enable({ id: teamId, revision }: Team): Promise<void> {
    const headers = { 'if-match': `"${revision}"` };
    await write<'changeTeam'>('PATCH', `/teams/${teamId}`, { enabled: true }, token, headers);
    end();
  }
  return (
    <>
      <header className="top">
        <h1 className={styles['path']}>
          <Link className="quiet" to="/teams">
            {say('teams.title')}
          </Link>{' '}
          <span className="quiet">/</span> {team?.name ?? ''}
        </h1>
        {team !== undefined && permissions.includes('credits.write') && (
          <button type="button" className="button" onClick={() => setOpen({ kind: 'credit' })}>
            {say('people.credit.button')}
          </button>
        )}
        {team?.editable === true && mayWrite && (
          <button type="button" className="button" onClick={() => setOpen({ kind: 'change' })}>
            {say('teams.change')}
          </button>
        )}
        {team?.editable === true && mayWrite && (
          <button
            type="button"
            className="button"
            disabled={enabling.isBusy}
            onClick={() => {
              if (team.enabled) setOpen({ kind: 'disable' });
              else enabling.run(() => enable(team));
            }}
          >
            {say(team.enabled ? 'people.disable' : 'people.enable')}
          </button>
        )}
      </header>
      <div className="body">
        <p className="problem" role="alert">
          {enabling.problem ?? budgets.problem}
        </p>
        <p className="hint" role="status">
          {done}
        </p>
        {isMissing && <p className="state">{say('teams.missing')}</p>}
        {found.isError && !isMissing && (
          <ErrorState error={found.error} onRetry={() => void found.refetch()} />
        )}
        {found.isPending && <Skeleton rows={8} />}
        {team !== undefined && (
          <>
            <Verdict of={team} />
            <Meters of={team} onBudget={budgets.set} />
            <div className={styles['split']}>
              <div>
                <section className={styles['section']}>
                  <header className={styles['head']}>
                    <h2 className="title">
                      {say('teams.members.title')}{' '}
                      <span className="quiet">{say('teams.members.sort')}</span>
                    </h2>
                    {mayManage && (
                      <span className={own['buttons']}>
                        {mayWrite && (
                          <button
                            type="button"
                            className="button"
                            onClick={() => setOpen({ kind: 'invite' })}
                          >
                            {say('people.invite')}
                          </button>
                        )}
                        <button
                          type="button"
                          className="button"
                          onClick={() => setOpen({ kind: 'add' })}
                        >
                          {say('teams.members.add')}
                        </button>
                      </span>
                    )}
                  </header>
                  <Members
                    team={team}
                    mayManage={mayManage}
                    onChange={(member) => setOpen({ kind: 'member', member })}
                    onRemove={(member) => setOpen({ kind: 'remove', member })}
                  />
                </section>
                <SpentByModel of="team" name={team.name} />
                {permissions.includes('users.read') && <Entries kind="team" id={team.id} />}
              </div>
              <Facts of={team} />
            </div>
          </>
        )}
      </div>
      {team !== undefined && (
        <>
          {open?.kind === 'change' && <ChangeTeam of={team} onChanged={end} onClose={close} />}
          {open?.kind === 'credit' && (
            <CreditAccount
              kind="team"
              id={team.id}
              name={team.name}
              balance={team.balance}
              onBooked={(text) => {
                setDone(text);
                end();
              }}
              onClose={close}
            />
          )}
          {open?.kind === 'disable' && (
            <DisableHolder
              path={`/teams/${team.id}`}
              revision={team.revision}
              name={team.name}
              stops={[
                team.keys > 0 && say('people.disableKeys', { count: team.keys, number: team.keys }),
                team.member_count > 0 &&
                  say('teams.disableMembers', {
                    count: team.member_count,
                    number: formats.count(team.member_count),
                  }),
                say('teams.disableText'),
              ]}
              onDisabled={end}
              onClose={close}
            />
          )}
          {open?.kind === 'invite' && (
            <InvitePerson
              team={team.name}
              onInvited={(name, invitation) => {
                end();
                people.showLink(name, invitation);
              }}
              onClose={close}
            />
          )}
          {open?.kind === 'add' && <MemberForm team={team} onDone={end} onClose={close} />}
          {open?.kind === 'member' && (
            <MemberForm team={team} of={open.member} onDone={end} onClose={close} />
          )}
          {open?.kind === 'remove' && (
            <RemoveMember team={team} of={open.member} onDone={end} onClose={close} />
          )}
        </>
      )}
      <Toast toast={budgets.toast} onEnd={budgets.endToast} />
      {people.dialogs}
    </>
  );
}

/** What is wrong with the budgets, in a sentence; nothing where all is well. */
function Verdict({ of: team }: { readonly of: Team }) {
  const say = useWords();
  const formats = useFormats();
  const nearest = nearestLimit(team);
  if (!team.enabled) {
    return (
      <div className={own['verdict']} role="status">
        <TeamState of={team} />
        <p className="second">{say('teams.disabledHint')}</p>
      </div>
    );
  }
  if (nearest === null || nearest.state.pace === 'within') return null;
  const { limit, state } = nearest;
  const { pace } = state;
  const amount = (text: string) => formats.amount(Number(text));
  const time =
    state.reachedAt === null ? '' : formats.moment(new Date(state.reachedAt).toISOString());
  return (
    <div className={`${own['verdict']} ${own[pace]}`} role="status">
      <p className={`outcome ${pace === 'early' ? 'warned' : 'failed'} strong`}>
        <Icon name={pace === 'early' ? 'warning' : 'cross'} />
        <span>{say(`teams.verdict.${pace as 'early' | 'used-up'}`, { time })}</span>
      </p>
      <p className="second">
        {say('teams.verdictHint', {
          name: say(`limits.${limit.name}`),
          spent: amount(limit.spent),
          limit: amount(limit.limit),
        })}
      </p>
    </div>
  );
}

const budgetNames = ['daily', 'monthly', 'total'] as const;

function Meters({ of: team, onBudget }: { readonly of: Team; readonly onBudget: SetBudget }) {
  const say = useWords();
  const fieldOf = useBudgetField(onBudget);
  return (
    <div className={own['meters']}>
      {budgetNames.map((name) => {
        const limit = team.limits.find((each) => each.name === name);
        const field = fieldOf(team, name);
        if (limit !== undefined) {
          return <Meter key={name} name={say(`limits.${name}`)} limit={limit} field={field} />;
        }
        return (
          field !== null && (
            <div key={name} className={own['balance']}>
              <span className="strong">{say(`limits.${name}`)}</span>
              {field}
            </div>
          )
        );
      })}
      <div className={own['balance']}>
        <span className="strong">{say('teams.balance')}</span>
        <span>
          <span className={own['amount']}>
            <Money amount={team.balance} />
          </span>{' '}
          <span className="quiet">USD</span>
        </span>
      </div>
    </div>
  );
}

function Facts({ of: team }: { readonly of: Team }) {
  const say = useWords();
  const formats = useFormats();
  const { declared_in: place } = team;
  return (
    <aside className={styles['section']}>
      <h2 className="title">{say('teams.facts')}</h2>
      <dl className={styles['facts']}>
        <dt>{say('teams.zone')}</dt>
        <dd>{team.time_zone}</dd>
        <dt>{say('teams.rpm')}</dt>
        <dd>{team.rpm === null ? say('teams.none') : formats.count(team.rpm)}</dd>
        <dt>{say('teams.groups')}</dt>
        <dd>{team.groups.length === 0 ? '–' : team.groups.join(', ')}</dd>
        <dt>{say('teams.since')}</dt>
        <dd>{formats.day(team.created)}</dd>
        <dt>{say('teams.managed')}</dt>
        <dd>{place === null ? say('people.person.console') : <code>{placeText(place)}</code>}</dd>
      </dl>
    </aside>
  );
}
