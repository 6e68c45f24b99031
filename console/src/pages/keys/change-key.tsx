import type { FormEvent } from 'react';
import { write, type Body } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { textOf } from '../../pieces/form-values.ts';
import { useSeen } from '../../pieces/use-seen.ts';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import { dayOf, GroupField, readSettings, SettingFields, settingNames } from './key-fields.tsx';
import styles from './page.module.css';
import type { Key } from './page.tsx';

interface Props {
  readonly of: Key;
  readonly onChanged: () => void;
  readonly onClose: () => void;
}

/** The settings of a key. If somebody else has changed them meanwhile, theirs are shown first. */
export function ChangeKey({ of, onChanged, onClose }: Props) {
  const say = useWords();
  const { teams, groups, csrf_token: token } = useSession();
  const { object: key, isStale, change } = useSeen(of);
  const sending = useWrite(['group', ...settingNames]);
  // Those of who pays; what somebody else gave stays.
  const granted = teams.find(({ name }) => name === key.team)?.groups ?? groups;
  const choices = [...new Set([key.group, ...granted])];

  function send(body: Body<'changeKey'>): void {
    sending.run(async () => {
      const isChanged = await change((headers) =>
        write<'changeKey'>('PATCH', `/keys/${key.id}`, body, token, headers),
      );
      if (isChanged) onChanged();
    });
  }

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
        {isStale && (
          <p className="problem" role="alert">
            {say('keys.stale')}
          </p>
        )}
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
    </Dialog>
  );
}
