import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd } from '../../pieces/fields.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { nameOfPerson, type User } from './query.ts';

interface Props {
  readonly of: User;
  readonly onDisabled: () => void;
  readonly onClose: () => void;
}

/** Says what stops before a person is disabled. */
export function DisablePerson({ of, onDisabled, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite();
  const { id, revision, keys, sessions } = of;

  function submit(event: FormEvent): void {
    event.preventDefault();
    sending.run(async () => {
      const headers = { 'if-match': `"${revision}"` };
      await write<'changeUser'>('PATCH', `/users/${id}`, { enabled: false }, token, headers);
      onDisabled();
    });
  }

  return (
    <Dialog title={say('people.disableNamed', { name: nameOfPerson(of) })} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        <p>
          {keys > 0 && `${say('people.disableKeys', { count: keys, number: keys })} `}
          {sessions > 0 &&
            `${say('people.disableSessions', { count: sessions, number: sessions })} `}
          {say('people.disableText')}
        </p>
        <FormEnd
          sending={sending}
          cancel={say('people.cancel')}
          submit={say('people.disable')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
