import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd } from '../../pieces/fields.tsx';
import { useSeen } from '../../pieces/use-seen.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { PersonFields, personFields, readPerson } from './person-fields.tsx';
import { nameOfPerson, type User } from './query.ts';

interface Props {
  readonly of: User;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** The settings of a person. If somebody else has changed them meanwhile, theirs are shown first. */
export function ChangePerson({ of, onChanged, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const { object: user, isStale, change } = useSeen(of);
  const sending = useWrite(personFields);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const body = readPerson(new FormData(event.currentTarget));
    sending.run(async () => {
      const isChanged = await change((headers) =>
        write<'changeUser'>('PATCH', `/users/${user.id}`, body, token, headers),
      );
      if (isChanged) onChanged();
    });
  }

  const name = nameOfPerson(user);
  return (
    <Dialog title={say('people.changeNamed', { name })} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit} key={user.revision}>
        {isStale && (
          <p className="problem" role="alert">
            {say('people.stale')}
          </p>
        )}
        <PersonFields initial={user} sending={sending} />
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
