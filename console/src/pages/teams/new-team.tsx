import { useState, type FormEvent } from 'react';
import { newCallName, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd, TextField } from '../../pieces/fields.tsx';
import { KnownNameField } from '../../pieces/known-fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from '../people/page.module.css';
import { useAddresses } from '../people/person-fields.tsx';
import type { Team } from './query.ts';
import { readTeam, TeamFields, teamFields } from './team-fields.tsx';

interface Props {
  readonly onMade: (team: Team) => void;
  readonly onClose: () => void;
}

export function NewTeam({ onMade, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite(['name', 'members', ...teamFields]);
  const addresses = useAddresses();
  // Sent again after a lost response, it makes no second team.
  const [call] = useState(newCallName);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const name = textOf(form, 'name') ?? '';
    const owner = textOf(form, 'members');
    const body = {
      name,
      ...readTeam(form),
      ...(owner !== null && { members: [{ user: owner, role: 'owner' as const }] }),
    };
    const headers = { 'idempotency-key': call };
    sending.run(async () =>
      onMade(await write<'createTeam'>('POST', '/teams', body, token, headers)),
    );
  }

  return (
    <Dialog title={say('teams.new')} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        <TextField name="name" label={say('teams.form.name')} required sending={sending} />
        <KnownNameField
          name="members"
          label={say('teams.form.owner')}
          hint={say('teams.form.ownerHint')}
          names={addresses}
          sending={sending}
        />
        <TeamFields sending={sending} />
        <FormEnd
          sending={sending}
          cancel={say('people.cancel')}
          submit={say('teams.create')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
