import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useSignIn } from '../../app/use-sign-in.ts';
import { CodeField } from '../../pieces/code-field.tsx';
import { ShortForm, TextField } from '../../pieces/fields.tsx';
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
  const { attempt, sending, needsCode } = useSignIn();

  async function enter(form: FormData): Promise<void> {
    if (!(await attempt(rawTextOf(form, 'email'), form))) return;
    if (to === undefined) await navigate({ to: '/' });
    else history.push(basepath + to);
  }

  return (
    <main className={styles['page']}>
      <div className={styles['form']}>
        <h1>
          <Icon name="brand" size={20} />
          Sluice
        </h1>
        <ProviderNote {...providerProblem} />
        <ProviderButton to={to} />
        <ShortForm
          className={styles['form']}
          sending={sending}
          submit={say('signIn.submit')}
          isMain
          onSend={enter}
        >
          <TextField
            name="email"
            type="email"
            label={say('signIn.email')}
            autoComplete="username"
            required
            autoFocus
            sending={sending}
          />
          <TextField
            name="password"
            type="password"
            label={say('signIn.password')}
            autoComplete="current-password"
            required
            sending={sending}
          />
          {needsCode && <CodeField sending={sending} />}
        </ShortForm>
        <p className="hint">{say('signIn.hint')}</p>
      </div>
    </main>
  );
}
