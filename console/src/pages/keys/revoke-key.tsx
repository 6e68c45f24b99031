import { write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { Key } from './page.tsx';

interface Props {
  readonly of: Key;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

export function RevokeKey({ of: { id, name, user }, onRevoked, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const { run, isBusy, problem } = useWrite();
  return (
    <Dialog title={say('keys.revokeNamed', { name })} onClose={onClose}>
      <p>{say('keys.revokeText', { user })}</p>
      <p className="problem" role="alert">
        {problem}
      </p>
      <div className={styles['actions']}>
        <button type="button" className="button" onClick={onClose}>
          {say('keys.cancel')}
        </button>
        <button
          type="button"
          className="button main"
          disabled={isBusy}
          onClick={() =>
            run(async () => {
              await write<'revokeKey'>('POST', `/keys/${id}/revoke`, {}, token);
              onRevoked();
            })
          }
        >
          {say('keys.revoke')}
        </button>
      </div>
    </Dialog>
  );
}
