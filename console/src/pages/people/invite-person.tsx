import { useQuery } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { newCallName, read, write, type Result } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { ChoiceField, FormEnd, TextField } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { PersonFields, personFields, readPerson } from './person-fields.tsx';
import { nameOfPerson, peopleKey } from './query.ts';

interface Props {
  /** The team that the person is to belong to, by its name; absent: it can be chosen. */
  readonly team?: string;
  readonly onInvited: (name: string, invitation: Result<'inviteUser'>) => void;
  readonly onClose: () => void;
}

/** Adds a person, to a team too if one is chosen, and makes the link with which the person signs in. */
export function InvitePerson({ team, onInvited, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite(['email', 'balance', ...personFields]);
  // Sent again after a lost response, it adds nobody twice.
  const [call] = useState(newCallName);
  const teams = useQuery({
    queryKey: [...peopleKey, 'team-names'],
    enabled: team === undefined,
    queryFn: ({ signal }) => read<'listTeams'>('/teams', { limit: '200' }, signal),
  });
  const names =
    teams.data?.data.filter((each) => each.editable && each.enabled).map(({ name }) => name) ?? [];

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const balance = textOf(form, 'balance');
    const body = {
      email: textOf(form, 'email') ?? '',
      ...readPerson(form),
      ...(balance !== null && { balance }),
    };
    const joined = team ?? textOf(form, 'team');
    sending.run(async () => {
      const headers = { 'idempotency-key': call };
      const user = await write<'createUser'>('POST', '/users', body, token, headers);
      if (joined !== null) {
        const member = `/teams/${encodeURIComponent(joined)}/members/${user.id}`;
        await write<'putMember'>('PUT', member, {}, token);
      }
      const path = `/users/${user.id}/invite`;
      onInvited(nameOfPerson(user), await write<'inviteUser'>('POST', path, {}, token));
    });
  }

  return (
    <Dialog title={say('people.invite')} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        <TextField
          name="email"
          type="email"
          label={say('people.form.email')}
          required
          sending={sending}
        />
        <PersonFields sending={sending} />
        {names.length > 0 && (
          <ChoiceField
            name="team"
            label={say('people.form.team')}
            choices={[
              ['', say('people.form.noTeam')],
              ...names.map((name) => [name, name] as const),
            ]}
            sending={sending}
          />
        )}
        <TextField
          name="balance"
          label={say('people.form.balance')}
          hint={say('people.form.balanceHint')}
          sending={sending}
        />
        <p className="hint">{say('people.inviteHint')}</p>
        <FormEnd
          sending={sending}
          cancel={say('people.cancel')}
          submit={say('people.inviteSend')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
