import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { useWords, type TextName } from '../../words/index.ts';
import styles from './page.module.css';
import type { IssuedKey } from './page.tsx';
import { nameOf, useWrite, type Write } from './use-write.ts';

interface Props {
  readonly onMade: (issued: IssuedKey) => void;
  readonly onClose: () => void;
}

const names = ['name', 'user', 'models', 'quota', 'expires_at', 'rpm', 'rph', 'max_concurrency'];

export function NewKey({ onMade, onClose }: Props) {
  const say = useWords();
  const { user, permissions, csrf_token: token } = useSession();
  const sending = useWrite(names);

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => {
      const value = form.get(name);
      return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
    };
    const count = (name: string) => {
      const value = text(name);
      return value === null ? null : Number(value);
    };
    const ends = text('expires_at');
    const body = {
      name: text('name') ?? '',
      user: text('user'),
      models: (text('models') ?? '').split(/[\s,]+/).filter((model) => model !== ''),
      quota: text('quota'),
      // The beginning of that day where the person is.
      expires_at: ends === null ? null : new Date(`${ends}T00:00`).toISOString(),
      rpm: count('rpm'),
      rph: count('rph'),
      max_concurrency: count('max_concurrency'),
    };
    sending.run(async () => onMade(await write<'createKey'>('POST', '/keys', body, token)));
  }

  return (
    <Dialog title={say('keys.new')} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        <Field name="name" hint="keys.form.nameHint" sending={sending} required />
        {permissions.includes('keys.write') && (
          <Field name="user" type="email" initial={user.email} sending={sending} />
        )}
        <Field name="models" hint="keys.form.modelsHint" sending={sending} />
        <div className={styles['pair']}>
          <Field name="quota" hint="keys.form.quotaHint" sending={sending} />
          <Field name="expires_at" type="date" hint="keys.form.endsHint" sending={sending} />
        </div>
        <div className={styles['three']}>
          <Field name="rpm" type="number" sending={sending} />
          <Field name="rph" type="number" sending={sending} />
          <Field name="max_concurrency" type="number" sending={sending} />
        </div>
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

interface FieldProps {
  readonly name:
    | 'name'
    | 'user'
    | 'models'
    | 'quota'
    | 'expires_at'
    | 'rpm'
    | 'rph'
    | 'max_concurrency';
  readonly type?: 'text' | 'email' | 'number' | 'date';
  readonly initial?: string;
  readonly required?: boolean;
  readonly hint?: TextName;
  readonly sending: Write;
}

/** Its problem stands in the place of the hint. */
function Field({ name, type = 'text', initial, required, hint, sending }: FieldProps) {
  const say = useWords();
  const problem = sending.fields.find(({ path }) => nameOf(path) === name)?.message;
  const id = `key-${name}`;
  return (
    <div className="field">
      <label htmlFor={id}>{say(`keys.form.${name}`)}</label>
      <input
        className="input"
        id={id}
        name={name}
        type={type}
        {...(type === 'number' && { min: 0, step: 1 })}
        defaultValue={initial}
        required={required}
        autoComplete="off"
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-note`}
      />
      <p className={problem === undefined ? 'hint' : 'problem'} id={`${id}-note`}>
        {problem ?? (hint === undefined ? '' : say(hint))}
      </p>
    </div>
  );
}
