import { useBlocker } from '@tanstack/react-router';
import type { RefObject } from 'react';
import { Dialog } from '../../pieces/dialog.tsx';
import { useWords } from '../../words/index.ts';
import styles from './editor.module.css';

interface Props {
  /** Whether something would be lost. */
  readonly isUnsaved: RefObject<boolean>;
}

/** Asks before a page is left on which something is not saved. What was typed stays until then. */
export function LeaveUnsaved({ isUnsaved }: Props) {
  const say = useWords();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => isUnsaved.current,
    withResolver: true,
  });
  if (status !== 'blocked') return null;
  return (
    <Dialog title={say('channels.leave.title')} onClose={reset}>
      <p>{say('channels.leave.hint')}</p>
      <div className={styles['actions']}>
        <button type="button" className="button" onClick={proceed}>
          {say('channels.leave.discard')}
        </button>
        <button type="button" className="button main" onClick={reset}>
          {say('channels.leave.stay')}
        </button>
      </div>
    </Dialog>
  );
}
