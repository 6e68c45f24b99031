import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd } from '../../pieces/fields.tsx';
import { useSeen } from '../../pieces/use-seen.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from '../people/page.module.css';
import type { Team } from './query.ts';
import { readTeam, TeamFields, teamFields } from './team-fields.tsx';

interface Props {
  readonly of: Team;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** The settings of a team. If somebody else has changed them meanwhile, theirs are shown first. */
export function ChangeTeam({ of, onChanged, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const { object: team, isStale, change } = useSeen(of);
  const sending = useWrite(teamFields);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const body = readTeam(new FormData(event.currentTarget));
    sending.run(async () => {
      const isChanged = await change((headers) =>
        write<'changeTeam'>('PATCH', `/teams/${team.id}`, body, token, headers),
      );
      if (isChanged) onChanged();
    });
  }

  return (
    <Dialog title={say('teams.changeNamed', { name: team.name })} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit} key={team.revision}>
        {isStale && (
          <p className="problem" role="alert">
            {say('people.stale')}
          </p>
        )}
        <TeamFields initial={team} sending={sending} />
        <FormEnd
          sending={sending}
          cancel={say('people.cancel')}
          submit={say('people.save')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
