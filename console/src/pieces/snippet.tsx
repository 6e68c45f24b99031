import { useWords } from '../words/index.ts';
import { CopyButton } from './copy-button.tsx';
import styles from './snippet.module.css';

interface Props {
  readonly text: string;
  /** What it is, for people who do not see it. */
  readonly label: string;
}

/** Lines to run or to put into a file, with a button that copies them. */
export function Snippet({ text, label }: Props) {
  const say = useWords();
  return (
    <div className={styles['snippet']}>
      <pre className="code" tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <CopyButton text={text} label={`${say('states.copy')}: ${label}`} />
    </div>
  );
}
