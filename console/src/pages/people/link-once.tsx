import type { Result } from '../../api/client.ts';
import { useFormats } from '../../format/numbers.ts';
import { Dialog, DialogEnd } from '../../pieces/dialog.tsx';
import { Secret } from '../../pieces/secret.tsx';
import { useWords } from '../../words/index.ts';

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
      <Secret id="invitation" text={invitation.link} copy={say('people.link.copy')} />
      <DialogEnd word={say('people.link.done')} onClose={onClose} />
    </Dialog>
  );
}
