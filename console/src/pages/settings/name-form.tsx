import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { choose, useSession } from '../../app/session.ts';
import { TextField } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

/** The name of the person who is signed in, as other people see it. */
export function NameForm() {
  const say = useWords();
  const client = useQueryClient();
  const session = useSession();
  const sending = useWrite(['name']);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const name = textOf(new FormData(event.currentTarget), 'name');
    sending.run(() => choose(client, session, { name }));
  }

  return (
    <form className={styles['form']} onSubmit={submit}>
      <TextField
        name="name"
        label={say('settings.name')}
        hint={say('settings.nameHint')}
        autoComplete="name"
        maxLength={200}
        initial={session.user.name}
        sending={sending}
      />
      <p className="problem" role="alert">
        {sending.problem}
      </p>
      <button type="submit" className="button" disabled={sending.isBusy}>
        {say('settings.changeName')}
      </button>
    </form>
  );
}
