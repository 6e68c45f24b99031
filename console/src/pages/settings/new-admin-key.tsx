import { useState, type FormEvent } from 'react';
import { newCallName, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { ChoiceField, FormEnd, TextField } from '../../pieces/fields.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import type { IssuedAdminKey } from './admin-keys.tsx';
import styles from './page.module.css';

interface Props {
  readonly onMade: (issued: IssuedAdminKey) => void;
  readonly onClose: () => void;
}

/** From the one with the least to say. */
const roles = ['viewer', 'billing', 'operator', 'admin'] as const;

export function NewAdminKey({ onMade, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite(['name', 'role', 'expires_at', 'ips']);
  // Sent again after a lost response, it makes no second key.
  const [call] = useState(newCallName);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const ends = textOf(form, 'expires_at');
    const body = {
      name: textOf(form, 'name') ?? '',
      role: textOf(form, 'role'),
      // The beginning of that day where the person is.
      expires_at: ends === null ? null : new Date(`${ends}T00:00`).toISOString(),
      ips:
        textOf(form, 'ips')
          ?.split(/[\s,]+/)
          .filter((text) => text !== '') ?? [],
    };
    sending.run(async () => {
      const headers = { 'idempotency-key': call };
      onMade(await write<'createAdminKey'>('POST', '/admin-keys', body, token, headers));
    });
  }

  return (
    <Dialog title={say('settings.adminKeys.new')} onClose={onClose}>
      <form className={styles['dialog']} onSubmit={submit}>
        <TextField
          name="name"
          label={say('settings.name')}
          hint={say('settings.adminKeys.nameHint')}
          required
          sending={sending}
        />
        <ChoiceField
          name="role"
          label={say('settings.role')}
          choices={roles.map((role) => [role, say(`settings.adminKeys.roles.${role}`)])}
          sending={sending}
        />
        <TextField
          name="expires_at"
          type="date"
          label={say('keys.form.expires_at')}
          hint={say('settings.adminKeys.endsHint')}
          sending={sending}
        />
        <TextField
          name="ips"
          label={say('settings.adminKeys.columns.ips')}
          hint={say('settings.adminKeys.ipsHint')}
          sending={sending}
        />
        <FormEnd
          sending={sending}
          cancel={say('keys.cancel')}
          submit={say('keys.create')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
