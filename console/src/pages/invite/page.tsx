import { useQueryClient } from '@tanstack/react-query';
import { useLocation, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ApiFailure } from '../../api/client.ts';
import { acceptInvitation } from '../../app/session.ts';
import { ShortForm, TextField } from '../../pieces/fields.tsx';
import { Icon } from '../../pieces/icon.tsx';
import { rawTextOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from '../sign-in/page.module.css';

/** Where an invitation leads: the person sets a password, and is signed in. The token stands behind the `#`. */
export function InvitePage(): ReactNode {
  const say = useWords();
  const client = useQueryClient();
  const navigate = useNavigate();
  const token = useLocation({ select: ({ hash }) => hash });
  const sending = useWrite(['password']);

  async function accept(form: FormData): Promise<void> {
    try {
      await acceptInvitation(client, { token, password: rawTextOf(form, 'password') });
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'second_factor_required') throw error;
      // The password is set; the code belongs to the sign-in.
      return navigate({ to: '/sign-in', replace: true });
    }
    // The address has the token no more, not even in the history.
    return navigate({ to: '/', replace: true });
  }

  return (
    <main className={styles['page']}>
      <div className={styles['form']}>
        <h1>
          <Icon name="brand" size={20} />
          {say('people.welcome.title')}
        </h1>
        {token === '' ? (
          <p>{say('people.welcome.noToken')}</p>
        ) : (
          <>
            <p className="second">{say('people.welcome.text')}</p>
            <ShortForm
              className={styles['form']}
              sending={sending}
              submit={say('people.welcome.submit')}
              isMain
              onSend={accept}
            >
              <TextField
                name="password"
                type="password"
                label={say('people.welcome.password')}
                hint={say('people.welcome.hint')}
                autoComplete="new-password"
                minLength={12}
                required
                autoFocus
                sending={sending}
              />
            </ShortForm>
          </>
        )}
      </div>
    </main>
  );
}
