import { useMemo, useState, type FormEvent } from 'react';
import { newCallName, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { nameOf, useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import {
  EndField,
  Field,
  GroupField,
  ModelsField,
  PersonField,
  QuotaField,
  RateFields,
  readSettings,
  settingNames,
} from './key-fields.tsx';
import styles from './page.module.css';
import type { IssuedKey } from './page.tsx';
import { PresetChoice } from './preset-choice.tsx';
import { settingsOf, type PresetName } from './presets.ts';

interface Props {
  /** While it is closed, what was typed stays. */
  readonly isOpen: boolean;
  readonly onMade: (issued: IssuedKey) => void;
  /** Forgets what was typed. */
  readonly onCancel: () => void;
  readonly onClose: () => void;
}

/** Those that a preset leaves to whoever wants to see them. */
const folded = settingNames.filter((name) => name !== 'quota');

export function NewKey({ isOpen, onMade, onCancel, onClose }: Props) {
  const say = useWords();
  const { user, teams, groups, permissions, csrf_token: token } = useSession();
  const sending = useWrite(['name', 'user', 'group', ...settingNames]);
  const [team, setTeam] = useState('');
  // Those of who pays.
  const granted = teams.find(({ name }) => name === team)?.groups ?? groups;
  // Sent again after a lost response, it makes no second key.
  const [call] = useState(newCallName);
  const [preset, setPreset] = useState<PresetName>('coding');
  const initial = useMemo(() => settingsOf(preset), [preset]);
  const [isUnfolded, setUnfolded] = useState(false);
  // A problem is seen where it is.
  const showsAll = isUnfolded || sending.fields.some(({ path }) => folded.includes(nameOf(path)));

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const body = {
      name: textOf(form, 'name') ?? '',
      user: textOf(form, 'user'),
      team: textOf(form, 'team'),
      group: textOf(form, 'group'),
      ...readSettings(form),
    };
    sending.run(async () =>
      onMade(await write<'createKey'>('POST', '/keys', body, token, { 'idempotency-key': call })),
    );
  }

  return (
    <Dialog title={say('keys.new')} isOpen={isOpen} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        <Field name="name" hint="keys.form.nameHint" sending={sending} required />
        <PresetChoice
          chosen={preset}
          onChoose={(name) => {
            setPreset(name);
            if (name === 'other') setUnfolded(true);
          }}
        />
        {permissions.includes('keys.write') && (
          <PersonField initial={user.email} sending={sending} />
        )}
        {teams.length > 0 && (
          <div className="field">
            <label htmlFor="key-team">{say('keys.form.team')}</label>
            <select
              className="input"
              id="key-team"
              name="team"
              value={team}
              onChange={({ target }) => setTeam(target.value)}
              aria-describedby="key-team-note"
            >
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
        {granted.length > 1 && (
          <GroupField key={`group-${team}`} groups={granted} sending={sending} />
        )}
        <QuotaField key={`quota-${preset}`} initial={initial} sending={sending} />
        <details
          className={styles['folded']}
          open={showsAll}
          onToggle={({ currentTarget }) => setUnfolded(currentTarget.open)}
        >
          <summary className="link">{say('keys.presets.rest')}</summary>
          <div className={styles['form']}>
            <ModelsField sending={sending} />
            <EndField key={`end-${preset}`} initial={initial} sending={sending} />
            <RateFields key={`rates-${preset}`} initial={initial} sending={sending} />
          </div>
        </details>
        <p className="problem" role="alert">
          {sending.problem}
        </p>
        <div className={styles['actions']}>
          <button type="button" className="button" onClick={onCancel}>
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
