import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession, type Session } from '../../app/session.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

const fields = ['old_password', 'new_password'] as const;

/** Another password for the person who is signed in. @param onChanged receives the renewed session */
export function PasswordForm({ onChanged }: { readonly onChanged: (session: Session) => void }) {
  const say = useWords();
  const { csrf_token: token, user } = useSession();
  const sending = useWrite(fields);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const element = event.currentTarget;
    const form = new FormData(element);
    const text = (name: string) => {
      const value = form.get(name);
      return typeof value === 'string' ? value : '';
    };
    const body = { old_password: text('old_password'), new_password: text('new_password') };
    sending.run(async () => {
      const session = await write<'changePassword'>('POST', '/me/password', body, token);
      element.reset();
      onChanged(session);
    });
  }

  return (
    <form className={styles['form']} onSubmit={submit}>
      <input type="hidden" name="email" autoComplete="username" value={user.email} />
      {fields.map((name) => {
        const problem = sending.fields.find(({ path }) => path === name)?.message;
        const isNew = name === 'new_password';
        return (
          <div key={name} className="field">
            <label htmlFor={name}>{say(`settings.${name}`)}</label>
            <input
              className="input"
              id={name}
              name={name}
              type="password"
              required
              autoComplete={isNew ? 'new-password' : 'current-password'}
              aria-invalid={problem !== undefined}
              aria-describedby={`${name}-note`}
            />
            <p className={problem === undefined ? 'hint' : 'problem'} id={`${name}-note`}>
              {problem ?? (isNew ? say('settings.newHint') : '')}
            </p>
          </div>
        );
      })}
      <p className="problem" role="alert">
        {sending.problem}
      </p>
      <button type="submit" className="button" disabled={sending.isBusy}>
        {say('settings.changePassword')}
      </button>
    </form>
  );
}
