import { useWords } from '../words/index.ts';
import { TextField } from './fields.tsx';
import type { Write } from './use-write.ts';

interface Props {
  /** Absent: both are accepted. */
  readonly hint?: string;
  readonly sending: Write;
}

/** A field for a code of an authenticator app, or for one that replaces it. */
export function CodeField({ hint, sending }: Props) {
  const say = useWords();
  return (
    <TextField
      name="code"
      label={say('signIn.code')}
      hint={hint ?? say('signIn.codeHint')}
      autoComplete="one-time-code"
      maxLength={40}
      required
      autoFocus
      sending={sending}
    />
  );
}
