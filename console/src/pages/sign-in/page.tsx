import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useState, type FormEvent } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { signIn } from '../../app/session.ts';
import { Icon } from '../../pieces/icon.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { ProviderButton, ProviderNote } from './provider.tsx';

/** Leads to the page that was asked for. */
export function SignInPage() {
  const say = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const { history, basepath } = useRouter();
  const { to, ...providerProblem } = useSearch({ from: '/sign-in' });
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => {
      const value = form.get(name);
      return typeof value === 'string' ? value : '';
    };
    setBusy(true);
    try {
      await signIn(client, { email: text('email'), password: text('password') });
      if (to === undefined) await navigate({ to: '/' });
      else history.push(basepath + to);
    } catch (error) {
      setProblem(error instanceof ApiFailure ? error.message : String(error));
      setBusy(false);
    }
  }

  return (
    <main className={styles['page']}>
      <form className={styles['form']} onSubmit={(event) => void submit(event)}>
        <h1>
          <Icon name="brand" size={20} />
          Sluice
        </h1>
        <ProviderNote {...providerProblem} />
        <ProviderButton to={to} />
        <div className="field">
          <label htmlFor="email">{say('signIn.email')}</label>
          <input
            className="input"
            id="email"
            name="email"
            type="email"
            autoComplete="username"
            required
            autoFocus
          />
        </div>
        <div className="field">
          <label htmlFor="password">{say('signIn.password')}</label>
          <input
            className="input"
            id="password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
            aria-describedby="problem"
          />
        </div>
        <p className="problem" id="problem" role="alert">
          {problem}
        </p>
        <button className="button main" type="submit" disabled={isBusy}>
          {say('signIn.submit')}
        </button>
        <p className="hint">{say('signIn.hint')}</p>
      </form>
    </main>
  );
}
