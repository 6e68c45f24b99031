import { useState, type FormEvent } from 'react';
import { newCallName, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { useWords } from '../../words/index.ts';
import { Field, readSettings, SettingFields, settingNames, textOf } from './key-fields.tsx';
import styles from './page.module.css';
import type { IssuedKey } from './page.tsx';
import { useWrite } from './use-write.ts';

interface Props {
  readonly onMade: (issued: IssuedKey) => void;
  readonly onClose: () => void;
}

export function NewKey({ onMade, onClose }: Props) {
  const say = useWords();
  const { user, permissions, csrf_token: token } = useSession();
  const sending = useWrite(['name', 'user', ...settingNames]);
  // Sent again after a lost response, it makes no second key.
  const [call] = useState(newCallName);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body = {
      name: textOf(form, 'name') ?? '',
      user: textOf(form, 'user'),
      ...readSettings(form),
    };
    sending.run(async () =>
      onMade(await write<'createKey'>('POST', '/keys', body, token, { 'idempotency-key': call })),
    );
  }

  return (
    <Dialog title={say('keys.new')} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        <Field name="name" hint="keys.form.nameHint" sending={sending} required />
        {permissions.includes('keys.write') && (
          <Field name="user" type="email" initial={user.email} sending={sending} />
        )}
        <SettingFields sending={sending} />
        <p className="problem" role="alert">
          {sending.problem}
        </p>
        <div className={styles['actions']}>
          <button type="button" className="button" onClick={onClose}>
            {say('keys.cancel')}
          </button>
          <button type="submit" className="button main" disabled={sending.isBusy}>
            {say('keys.create')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
