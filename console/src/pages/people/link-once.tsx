import type { Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { CopyButton } from '../../pieces/copy-button.tsx';
import { Dialog, DialogEnd } from '../../pieces/dialog.tsx';
import { useWords } from '../../words/index.ts';
import styles from './page.module.css';

interface Props {
  /** Of the person. */
  readonly name: string;
  readonly invitation: Result<'inviteUser'>;
  readonly onClose: () => void;
}

/** The link of an invitation, this once. */
export function LinkOnce({ name, invitation, onClose }: Props) {
  const say = useWords();
  const formats = useFormats();
  return (
    <Dialog title={say('people.link.title', { name })} onClose={onClose}>
      <p>{say('people.link.text', { time: formats.moment(invitation.expires_at) })}</p>
      <div className={styles['secret']}>
        <code className="code" id="invitation">
          {invitation.link}
        </code>
        <CopyButton text={invitation.link} label={say('people.link.copy')} />
      </div>
      <DialogEnd word={say('people.link.done')} onClose={onClose} />
    </Dialog>
  );
}
