import type { Body } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { ShortForm, TextField } from '../../pieces/fields.tsx';
import { rawTextOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';

interface Props {
  /** The word of its button. */
  readonly submit: string;
  /** Without one there is nothing to ask for. */
  readonly hasPassword: boolean;
  /** @throws ApiFailure */
  readonly onSend: (proof: Body<'endSecondFactor'>) => Promise<void>;
}

/** Asks for the password before something changes of how the person signs in. */
export function ProofForm({ submit, hasPassword, onSend }: Props) {
  const say = useWords();
  const { user } = useSession();
  const sending = useWrite(['password']);
  return (
    <ShortForm
      sending={sending}
      submit={submit}
      onSend={(form) => onSend(hasPassword ? { password: rawTextOf(form, 'password') } : {})}
    >
      {hasPassword && (
        <>
          <input type="hidden" name="email" autoComplete="username" value={user.email} />
          <TextField
            name="password"
            type="password"
            label={say('settings.old_password')}
            autoComplete="current-password"
            required
            sending={sending}
          />
        </>
      )}
    </ShortForm>
  );
}
