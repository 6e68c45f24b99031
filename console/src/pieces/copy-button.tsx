import { useState } from 'react';
import { useWords } from '../words/index.ts';
import { Icon } from './icon.tsx';

interface Props {
  readonly text: string;
  /** What is copied, for people who do not see what stands beside the button. */
  readonly label?: string;
  /** On a button without a border, which names what it copies. */
  readonly word?: string;
}

/** Absent where the browser lets no page write to the clipboard, as over plain http: the text can be selected. */
export function CopyButton({ text, label, word }: Props) {
  const say = useWords();
  const [isCopied, setCopied] = useState(false);
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) return null;
  return (
    <button
      type="button"
      className={word === undefined ? 'button' : 'button bare'}
      aria-label={isCopied ? undefined : label}
      onClick={() => void clipboard.writeText(text).then(() => setCopied(true))}
    >
      <Icon name={isCopied ? 'tick' : 'copy'} />
      {isCopied ? say('states.copied') : (word ?? say('states.copy'))}
    </button>
  );
}
