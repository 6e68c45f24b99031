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
  const { user, teams, permissions, csrf_token: token } = useSession();
  const sending = useWrite(['name', 'user', ...settingNames]);
  // Sent again after a lost response, it makes no second key.
  const [call] = useState(newCallName);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body = {
      name: textOf(form, 'name') ?? '',
      user: textOf(form, 'user'),
      team: textOf(form, 'team'),
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
        {teams.length > 0 && (
          <div className="field">
            <label htmlFor="key-team">{say('keys.form.team')}</label>
            <select className="input" id="key-team" name="team" aria-describedby="key-team-note">
              <option value="">{say('keys.form.noTeam')}</option>
              {teams.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
            <p className="hint" id="key-team-note">
              {say('keys.form.teamHint')}
            </p>
          </div>
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
