import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type FormEvent, type ReactNode } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { acceptInvitation } from '../../app/session.ts';
import { Icon } from '../../pieces/icon.tsx';
import { rawTextOf } from '../../pieces/form-values.ts';
import { useWords } from '../../words/index.ts';
import styles from '../sign-in/page.module.css';

/** Where an invitation leads: the person sets a password, and is signed in. The token stands behind the `#`. */
export function InvitePage(): ReactNode {
  const say = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [token] = useState(() => location.hash.slice(1));
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const password = rawTextOf(new FormData(event.currentTarget), 'password');
    setBusy(true);
    try {
      await acceptInvitation(client, { token, password });
      // The address has the token no more, not even in the history.
      await navigate({ to: '/', replace: true });
    } catch (error) {
      if (error instanceof ApiFailure && error.code === 'second_factor_required') {
        // The password is set; the code belongs to the sign-in.
        await navigate({ to: '/sign-in', replace: true });
        return;
      }
      setProblem(error instanceof ApiFailure ? error.message : String(error));
      setBusy(false);
    }
  }

  return (
    <main className={styles['page']}>
      <form className={styles['form']} onSubmit={(event) => void submit(event)}>
        <h1>
          <Icon name="brand" size={20} />
          {say('people.welcome.title')}
        </h1>
        {token === '' ? (
          <p>{say('people.welcome.noToken')}</p>
        ) : (
          <>
            <p className="second">{say('people.welcome.text')}</p>
            <div className="field">
              <label htmlFor="password">{say('people.welcome.password')}</label>
              <input
                className="input"
                id="password"
                name="password"
                type="password"
                autoComplete="new-password"
                minLength={12}
                required
                autoFocus
                aria-describedby="hint problem"
              />
              <p className="hint" id="hint">
                {say('people.welcome.hint')}
              </p>
            </div>
            <p className="problem" id="problem" role="alert">
              {problem}
            </p>
            <button className="button main" type="submit" disabled={isBusy}>
              {say('people.welcome.submit')}
            </button>
          </>
        )}
      </form>
    </main>
  );
}
