import type { FormEvent } from 'react';
import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { FormEnd } from '../../pieces/fields.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

interface Props {
  /** Below `/admin/v1`. */
  readonly path: `/${'users' | 'teams'}/${string}`;
  readonly revision: number;
  readonly name: string;
  /** What stops, in words. */
  readonly stops: readonly (string | false)[];
  readonly onDisabled: () => void;
  readonly onClose: () => void;
}

/** Says what stops before a person or a team is disabled. */
export function DisableHolder({ path, revision, name, stops, onDisabled, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const sending = useWrite();

  function submit(event: FormEvent): void {
    event.preventDefault();
    sending.run(async () => {
      const headers = { 'if-match': `"${revision}"` };
      await write<'changeUser' | 'changeTeam'>('PATCH', path, { enabled: false }, token, headers);
      onDisabled();
    });
  }

  return (
    <Dialog title={say('people.disableNamed', { name })} onClose={onClose}>
      <form className={styles['form']} onSubmit={submit}>
        <p>{stops.filter((each) => each !== false).join(' ')}</p>
        <FormEnd
          sending={sending}
          cancel={say('people.cancel')}
          submit={say('people.disable')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
