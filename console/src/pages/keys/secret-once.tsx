import { useSession } from '../../app/session.ts';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { Dialog, DialogEnd } from '../../pieces/dialog.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';
import type { IssuedKey } from './page.tsx';

interface Props {
  readonly issued: IssuedKey;
  readonly onClose: () => void;
}

/** The secret of a key, this once. */
export function SecretOnce({ issued: { name, key: secret }, onClose }: Props) {
  const say = useWords();
  const { gateway } = useSession();
  if (secret === undefined) return <SecretLost name={name} onClose={onClose} />;
  // Works for every key: it lists the models that the key may use.
  const line = `curl ${gateway.url}/v1/models -H 'authorization: Bearer ${secret}'`;
  return (
    <Dialog title={say('keys.ready', { name })} onClose={onClose}>
      <p>{say('keys.once')}</p>
      <div className={styles['secret']}>
        <code className="code" id="secret">
          {secret}
        </code>
        <CopyButton text={secret} label={say('keys.copySecret')} />
      </div>
      <p>{say('keys.try')}</p>
      <div className={styles['secret']}>
        <code className="code" id="try">
          {line}
        </code>
        <CopyButton text={line} label={say('keys.copyLine')} />
      </div>
      <DialogEnd word={say('keys.done')} onClose={onClose} />
    </Dialog>
  );
}

/** The response with the secret did not arrive, and the call was sent again. */
function SecretLost({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const say = useWords();
  return (
    <Dialog title={say('keys.ready', { name })} onClose={onClose}>
      <p>{say('keys.lost')}</p>
      <DialogEnd word={say('keys.close')} onClose={onClose} />
    </Dialog>
  );
}
