import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { write, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import type { RowAction } from '../../pieces/row-menu.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import { ChangePerson } from './change-person.tsx';
import { CreditAccount } from './credit-account.tsx';
import { DisableHolder } from './disable-holder.tsx';
import { LinkOnce } from './link-once.tsx';
import { nameOfPerson, peopleKey, type User } from './query.ts';

type Open =
  | { readonly kind: 'change' | 'credit' | 'disable'; readonly user: User }
  /** The only place that holds an invitation's link: it is forgotten with the dialog. */
  | {
      readonly kind: 'link';
      readonly name: string;
      readonly invitation: Result<'inviteUser'>;
    };

/** What the signed-in person may do for people, and the dialogs of it. */
export function usePersonActions() {
  const say = useWords();
  const client = useQueryClient();
  const { permissions, csrf_token: token, user: self } = useSession();
  const [open, setOpen] = useState<Open | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const { run, problem } = useWrite();
  const mayWrite = permissions.includes('users.write');
  const mayCredit = permissions.includes('credits.write');
  const changed = () => void client.invalidateQueries({ queryKey: peopleKey });
  const close = () => setOpen(null);
  const end = () => {
    changed();
    close();
  };

  const act = (work: () => Promise<string | null>) => {
    setDone(null);
    run(async () => {
      setDone(await work());
      changed();
    });
  };

  const actionsOf = (user: User): RowAction[] => {
    const path = `/users/${encodeURIComponent(user.id)}`;
    const show = (kind: 'change' | 'credit' | 'disable') => () => setOpen({ kind, user });
    // How somebody signs in is changed in Settings, which ask for the password.
    const mayReset = mayWrite && !(user.id === self.id && user.has_password);
    return [
      ...(mayCredit ? [{ word: say('people.credit.button'), act: show('credit') }] : []),
      ...(mayWrite && user.editable ? [{ word: say('people.change'), act: show('change') }] : []),
      ...(mayReset && user.enabled
        ? [
            {
              word: say(user.has_password ? 'people.newPassword' : 'people.inviteAgain'),
              act: () => act(() => invite(user)),
            },
          ]
        : []),
      ...(mayWrite && user.sessions > 0
        ? [
            {
              word: say('people.signOut'),
              act: () =>
                act(async () => {
                  const { ended } = await write<'signOutUser'>(
                    'POST',
                    `${path}/sign-out`,
                    {},
                    token,
                  );
                  return say('people.signedOut', { count: ended, number: ended });
                }),
            },
          ]
        : []),
      ...(mayReset && user.second_factor
        ? [
            {
              word: say('people.endFactor'),
              act: () =>
                act(async () => {
                  await write<'endSecondFactorOf'>('DELETE', `${path}/totp`, {}, token);
                  return say('people.factorEnded');
                }),
            },
          ]
        : []),
      ...(mayReset && user.connected
        ? [
            {
              word: say('people.disconnect'),
              act: () =>
                act(async () => {
                  await write<'unlinkUser'>('DELETE', `${path}/oidc`, {}, token);
                  return say('people.disconnected');
                }),
            },
          ]
        : []),
      ...(mayWrite && user.editable
        ? [
            user.enabled
              ? { word: say('people.disable'), act: show('disable') }
              : {
                  word: say('people.enable'),
                  act: () =>
                    act(async () => {
                      const headers = { 'if-match': `"${user.revision}"` };
                      await write<'changeUser'>('PATCH', path, { enabled: true }, token, headers);
                      return null;
                    }),
                },
          ]
        : []),
    ];
  };

  async function invite(user: Pick<User, 'id' | 'name' | 'email'>): Promise<null> {
    const path = `/users/${encodeURIComponent(user.id)}/invite`;
    const invitation = await write<'inviteUser'>('POST', path, {}, token);
    setOpen({ kind: 'link', name: nameOfPerson(user), invitation });
    return null;
  }

  const dialogs: ReactNode = (
    <>
      {open?.kind === 'change' && <ChangePerson of={open.user} onChanged={end} onClose={close} />}
      {open?.kind === 'credit' && (
        <CreditAccount
          kind="user"
          id={open.user.id}
          name={nameOfPerson(open.user)}
          balance={open.user.balance}
          onBooked={(text) => {
            setDone(text);
            end();
          }}
          onClose={close}
        />
      )}
      {open?.kind === 'disable' && (
        <DisableHolder
          path={`/users/${open.user.id}`}
          revision={open.user.revision}
          name={nameOfPerson(open.user)}
          stops={[
            open.user.keys > 0 && say('people.disableKeys', numberOf(open.user.keys)),
            open.user.sessions > 0 && say('people.disableSessions', numberOf(open.user.sessions)),
            say('people.disableText'),
          ]}
          onDisabled={end}
          onClose={close}
        />
      )}
      {open?.kind === 'link' && (
        <LinkOnce
          name={open.name}
          invitation={open.invitation}
          onClose={() => {
            changed();
            close();
          }}
        />
      )}
    </>
  );
  const notes: ReactNode = (
    <>
      <p className="problem" role="alert">
        {problem}
      </p>
      <p className="hint" role="status">
        {done}
      </p>
    </>
  );
  return {
    mayWrite,
    mayCredit,
    credit: (user: User) => setOpen({ kind: 'credit', user }),
    actionsOf,
    dialogs,
    /** What came of the last action. */
    notes,
    /** Shows the link of an invitation. */
    showLink: (name: string, invitation: Result<'inviteUser'>) =>
      setOpen({ kind: 'link', name, invitation }),
  };
}

const numberOf = (count: number) => ({ count, number: count });
