import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useSyncExternalStore } from 'react';
import { currentLink, linkBack, look, subscribeLink } from '../api/link.ts';
import { useFormats } from '../format/numbers.ts';
import { ProviderButton } from '../pages/sign-in/provider.tsx';
import { Dialog } from '../pieces/dialog.tsx';
import { ShortForm, TextField } from '../pieces/fields.tsx';
import { CodeField } from '../pieces/code-field.tsx';
import { Icon } from '../pieces/icon.tsx';
import { useWords } from '../words/index.ts';
import styles from './frame.module.css';
import { useSession } from './session.ts';
import { useSignIn } from './use-sign-in.ts';

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
  const { attempt, sending, needsCode } = useSignIn();
  if (!isSessionOver) return null;

  return (
    <Dialog title={say('link.over')} onClose={() => location.reload()}>
      <p>{say('link.overHint', { email: user.email })}</p>
      <ProviderButton to={location.pathname.slice('/console'.length) + location.search} />
      <ShortForm
        sending={sending}
        submit={say('signIn.submit')}
        isMain
        onSend={async (form) => {
          if (await attempt(user.email, form)) await client.invalidateQueries();
        }}
      >
        <input type="hidden" autoComplete="username" name="email" value={user.email} />
        <TextField
          name="password"
          type="password"
          label={say('signIn.password')}
          autoComplete="current-password"
          required
          autoFocus
          sending={sending}
        />
        {needsCode && <CodeField sending={sending} />}
      </ShortForm>
    </Dialog>
  );
}
