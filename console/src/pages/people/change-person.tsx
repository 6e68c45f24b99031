import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd } from '../../pieces/fields.tsx';
import { useEdit } from '../../pieces/use-edit.tsx';
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

/** The settings of a person. */
export function ChangePerson({ of, onChanged, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite(personFields);
  const {
    object: user,
    send,
    twoVersions,
  } = useEdit(of, {
    sending,
    write: (body: ReturnType<typeof readPerson>, headers) =>
      write<'changeUser'>('PATCH', `/users/${of.id}`, body, token, headers),
    onChanged,
    name: nameOfPerson(of),
    labelOf: ({ member }) => say(`people.form.${member as keyof ReturnType<typeof readPerson>}`),
  });

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    send(readPerson(new FormData(event.currentTarget)));
  }

  const name = nameOfPerson(user);
  return (
    <Dialog title={say('people.changeNamed', { name })} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit} key={user.revision}>
        <PersonFields initial={user} sending={sending} />
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
