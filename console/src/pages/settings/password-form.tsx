import { write } from '../../api/client.ts';
import { useSession, type Session } from '../../app/session.ts';
import { ShortForm, TextField } from '../../pieces/fields.tsx';
import { rawTextOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';

/** Another password for the person who is signed in. @param onChanged receives the renewed session */
export function PasswordForm({ onChanged }: { readonly onChanged: (session: Session) => void }) {
  const say = useWords();
  const { csrf_token: token, user } = useSession();
  const sending = useWrite(['old_password', 'new_password']);

  async function change(form: FormData, element: HTMLFormElement): Promise<void> {
    const body = {
      old_password: rawTextOf(form, 'old_password'),
      new_password: rawTextOf(form, 'new_password'),
    };
    const session = await write<'changePassword'>('POST', '/me/password', body, token);
    element.reset();
    onChanged(session);
  }

  return (
    <ShortForm sending={sending} submit={say('settings.changePassword')} onSend={change}>
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
    </ShortForm>
  );
}
