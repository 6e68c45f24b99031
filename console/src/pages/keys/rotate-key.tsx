import { useState } from 'react';
import { newCallName, write } from '../../api/client.ts';
import { useSession } from '../../app/session.ts';
import { Dialog } from '../../pieces/dialog.tsx';
import { useWrite } from '../../pieces/use-write.ts';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { IssuedKey, Key } from './page.tsx';

interface Props {
  readonly of: Key;
  readonly onRotated: (issued: IssuedKey) => void;
  readonly onClose: () => void;
}

const graces = ['0s', '1h', '24h', '7d'] as const;

export function RotateKey({ of: { id, name }, onRotated, onClose }: Props) {
  const say = useWords();
  const { csrf_token: token } = useSession();
  const [grace, setGrace] = useState<string>('24h');
  const { run, isBusy, problem } = useWrite();
  const [call] = useState(newCallName);
  return (
    <Dialog title={say('keys.rotateNamed', { name })} onClose={onClose}>
      <p>{say('keys.rotateText')}</p>
      <div className="field">
        <label htmlFor="grace">{say('keys.grace')}</label>
        <select
          className="input"
          id="grace"
          value={grace}
          onChange={({ target }) => setGrace(target.value)}
        >
          {graces.map((each) => (
            <option key={each} value={each}>
              {say(`keys.graces.${each}`)}
            </option>
          ))}
        </select>
      </div>
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
            run(async () =>
              onRotated(
                await write<'rotateKey'>('POST', `/keys/${id}/rotate`, { grace }, token, {
                  'idempotency-key': `${call}-${grace}`,
                }),
              ),
            )
          }
        >
          {say('keys.rotate')}
        </button>
      </div>
    </Dialog>
  );
}
