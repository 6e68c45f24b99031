import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore, type FormEvent } from 'react';
import { ApiFailure } from '../api/client.ts';
import { currentLink, linkBack, look, subscribeLink } from '../api/link.ts';
import { useFormats } from '../format/numbers.ts';
import { Dialog } from '../pieces/dialog.tsx';
import { Icon } from '../pieces/icon.tsx';
import { useWords } from '../words/index.ts';
import styles from './frame.module.css';
import { signIn, useSession } from './session.ts';

const useLink = () => useSyncExternalStore(subscribeLink, currentLink);

/** Milliseconds between looks at a gateway or a database that does not answer. */
export const lookEvery = 4_000;

/** Says that the gateway or its database does not answer, until it does. Then every page reads anew. */
export function LostLink() {
  const say = useWords();
  const formats = useFormats();
  const client = useQueryClient();
  const { lost } = useLink();
  const isLost = lost !== null;

  useEffect(() => {
    if (!isLost) return undefined;
    const timer = setInterval(() => void tryNow(), lookEvery);
    return () => clearInterval(timer);
  });

  async function tryNow(): Promise<void> {
    // It still does not answer, as the banner says.
    if ((await look()) !== null) return;
    linkBack();
    await client.invalidateQueries();
  }

  if (lost === null) return null;
  return (
    <p className={styles['banner']} role="alert">
      <Icon name="warning" />
      {say(`link.${lost.part}`, { time: formats.time(new Date(lost.since).toISOString()) })}
      <button type="button" className="button" onClick={() => void tryNow()}>
        {say('link.now')}
      </button>
    </p>
  );
}

/** When the session is over, the person signs in again in front of the page, which keeps what was typed. */
export function SignInAgain() {
  const say = useWords();
  const client = useQueryClient();
  const { user } = useSession();
  const { isSessionOver } = useLink();
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  if (!isSessionOver) return null;

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const password = new FormData(event.currentTarget).get('again-password');
    setBusy(true);
    try {
      await signIn(client, {
        email: user.email,
        password: typeof password === 'string' ? password : '',
      });
      setProblem(null);
      await client.invalidateQueries();
    } catch (error) {
      setProblem(error instanceof ApiFailure ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <Dialog title={say('link.over')} onClose={() => location.reload()}>
      <p>{say('link.overHint', { email: user.email })}</p>
      <form className={styles['again']} onSubmit={(event) => void submit(event)}>
        <div className="field">
          <label htmlFor="again-password">{say('signIn.password')}</label>
          <input type="hidden" autoComplete="username" name="email" value={user.email} />
          <input
            className="input"
            id="again-password"
            name="again-password"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
            aria-describedby="again-problem"
          />
        </div>
        <p className="problem" id="again-problem" role="alert">
          {problem}
        </p>
        <button type="submit" className="button main" disabled={isBusy}>
          {say('signIn.submit')}
        </button>
      </form>
    </Dialog>
  );
}
