import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession, type Session } from '../../app/session.ts';
import { TextField } from '../../pieces/fields.tsx';
import { rawTextOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

/** Another password for the person who is signed in. @param onChanged receives the renewed session */
export function PasswordForm({ onChanged }: { readonly onChanged: (session: Session) => void }) {
  const say = useWords();
  const { csrf_token: token, user } = useSession();
  const sending = useWrite(['old_password', 'new_password']);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const element = event.currentTarget;
    const form = new FormData(element);
    const body = {
      old_password: rawTextOf(form, 'old_password'),
      new_password: rawTextOf(form, 'new_password'),
    };
    sending.run(async () => {
      const session = await write<'changePassword'>('POST', '/me/password', body, token);
      element.reset();
      onChanged(session);
    });
  }

  return (
    <form className={styles['form']} onSubmit={submit}>
      <input type="hidden" name="email" autoComplete="username" value={user.email} />
      <TextField
        name="old_password"
        type="password"
        label={say('settings.old_password')}
        autoComplete="current-password"
        required
        sending={sending}
      />
      <TextField
        name="new_password"
        type="password"
        label={say('settings.new_password')}
        hint={say('settings.newHint')}
        autoComplete="new-password"
        required
        sending={sending}
      />
      <p className="problem" role="alert">
        {sending.problem}
      </p>
      <button type="submit" className="button" disabled={sending.isBusy}>
        {say('settings.changePassword')}
      </button>
    </form>
  );
}
