import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { useSignIn } from '../../app/use-sign-in.ts';
import { CodeField } from '../../pieces/code-field.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { rawTextOf } from '../../pieces/form-values.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import { ProviderButton, ProviderNote } from './provider.tsx';

/** Leads to the page that was asked for. */
export function SignInPage() {
  const say = useWords();
  const navigate = useNavigate();
  const { history, basepath } = useRouter();
  const { to, ...providerProblem } = useSearch({ from: '/sign-in' });
  const { attempt, problem, isBusy, needsCode } = useSignIn();

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    if (!(await attempt(rawTextOf(form, 'email'), form))) return;
    if (to === undefined) await navigate({ to: '/' });
    else history.push(basepath + to);
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
        {needsCode && <CodeField />}
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
