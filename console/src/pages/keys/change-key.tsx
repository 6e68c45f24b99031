import type { FormEvent } from 'react';
import { write, type Body } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { useFormats } from '../../format/numbers.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useEdit } from '../../pieces/use-edit.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords, type TextName } from '../../words/index.ts';
import { dayOf, GroupField, readSettings, SettingFields, settingNames } from './key-fields.tsx';
import styles from './page.module.css';
import type { Key } from './page.tsx';

interface Props {
  readonly of: Key;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** The settings of a key. */
export function ChangeKey({ of, onChanged, onClose }: Props) {
  const say = useWords();
  const { teams, groups, csrf_token: token } = useSession();
  const formats = useFormats();
  const sending = useWrite(['group', ...settingNames]);
  const {
    object: key,
    send,
    twoVersions,
  } = useEdit(of, {
    sending,
    write: (body: Body<'changeKey'>, headers) =>
      write<'changeKey'>('PATCH', `/keys/${of.id}`, body, token, headers),
    onChanged,
    name: of.name,
    labelOf: ({ member }) => say(`keys.form.${member}` as TextName),
    textOf: ({ member }, value) =>
      member === 'expires_at' && typeof value === 'string' ? formats.time(value) : null,
  });
  // Those of who pays; what somebody else gave stays.
  const granted = teams.find(({ name }) => name === key.team)?.groups ?? groups;
  const choices = [...new Set([key.group, ...granted])];

  function submit(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const { expires_at: ends, ...settings } = readSettings(form);
    const group = textOf(form, 'group') ?? key.group;
    // The field has only the day: the same day leaves the time as it is.
    const isSameDay =
      ends !== null && key.expires_at !== null && dayOf(ends) === dayOf(key.expires_at);
    send({
      ...settings,
      ...(group !== key.group && { group }),
      ...(!isSameDay && { expires_at: ends }),
    });
  }

  return (
    <Dialog title={say('keys.changeNamed', { name: key.name })} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit} key={key.revision}>
        {choices.length > 1 && (
          <GroupField groups={choices} initial={key.group} sending={sending} />
        )}
        <SettingFields initial={key} sending={sending} />
        <p className="problem" role="alert">
          {sending.problem}
        </p>
        <div className={styles['actions']}>
          <button
            type="button"
            className={`button ${styles['first']}`}
            disabled={sending.isBusy}
            onClick={() => send({ enabled: !key.enabled })}
          >
            {say(key.enabled ? 'keys.disable' : 'keys.enable')}
          </button>
          <button type="button" className="button" onClick={onClose}>
            {say('keys.cancel')}
          </button>
          <button type="submit" className="button main" disabled={sending.isBusy}>
            {say('keys.save')}
          </button>
        </div>
      </form>
      {twoVersions}
    </Dialog>
  );
}
