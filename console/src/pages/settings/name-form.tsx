import { useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { choose, useSession } from '../../app/session.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

/** The name of the person who is signed in, as other people see it. */
export function NameForm() {
  const say = useWords();
  const client = useQueryClient();
  const session = useSession();
  const sending = useWrite(['name']);
  const problem = sending.fields.find(({ path }) => path === 'name')?.message;

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const given = new FormData(event.currentTarget).get('name');
    const name = typeof given === 'string' ? given.trim() : '';
    sending.run(() => choose(client, session, { name: name === '' ? null : name }));
  }

  return (
    <form className={styles['form']} onSubmit={submit}>
      <div className="field">
        <label htmlFor="settings-name">{say('settings.name')}</label>
        <input
          className="input"
          id="settings-name"
          name="name"
          autoComplete="name"
          maxLength={200}
          defaultValue={session.user.name ?? ''}
          aria-invalid={problem !== undefined}
          aria-describedby="settings-name-note"
        />
        <p className={problem === undefined ? 'hint' : 'problem'} id="settings-name-note">
          {problem ?? say('settings.nameHint')}
        </p>
      </div>
      <p className="problem" role="alert">
        {sending.problem}
      </p>
      <button type="submit" className="button" disabled={sending.isBusy}>
        {say('settings.changeName')}
      </button>
    </form>
  );
}
