import { useQueryClient } from '@tanstack/react-query';
import { choose, useSession } from '../../app/session.ts';
import { ShortForm, TextField } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';

/** The name of the person who is signed in, as other people see it. */
export function NameForm() {
  const say = useWords();
  const client = useQueryClient();
  const session = useSession();
  const sending = useWrite(['name']);

  return (
    <ShortForm
      sending={sending}
      submit={say('settings.changeName')}
      onSend={(form) => choose(client, session, { name: textOf(form, 'name') })}
    >
      <TextField
        name="name"
        label={say('settings.name')}
        hint={say('settings.nameHint')}
        autoComplete="name"
        maxLength={200}
        initial={session.user.name}
        sending={sending}
      />
    </ShortForm>
  );
}
