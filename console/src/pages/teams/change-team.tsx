import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd } from '../../pieces/fields.tsx';
import { useEdit } from '../../pieces/use-edit.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords, type TextName } from '../../words/index.ts';
import styles from '../people/page.module.css';
import type { Team } from './query.ts';
import { readTeam, TeamFields, teamFields } from './team-fields.tsx';

interface Props {
  readonly of: Team;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** The settings of a team. */
export function ChangeTeam({ of, onChanged, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite(teamFields);
  const {
    object: team,
    send,
    twoVersions,
  } = useEdit(of, {
    sending,
    write: (body: ReturnType<typeof readTeam>, headers) =>
      write<'changeTeam'>('PATCH', `/teams/${of.id}`, body, token, headers),
    onChanged,
    name: of.name,
    labelOf: ({ member, part }) => say(`teams.form.${part ?? member}` as TextName),
    withParts: ['budget'],
  });

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    send(readTeam(new FormData(event.currentTarget)));
  }

  return (
    <Dialog title={say('teams.changeNamed', { name: team.name })} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit} key={team.revision}>
        <TeamFields initial={team} sending={sending} />
        <FormEnd
          sending={sending}
          cancel={say('people.cancel')}
          submit={say('people.save')}
          onCancel={onClose}
        />
      </form>
      {twoVersions}
    </Dialog>
  );
}
