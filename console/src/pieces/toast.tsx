import { useCallback, useEffect, useState } from 'react';
import { useWords } from '../words/index.ts';
import styles from './toast.module.css';

/** What has been done, in the past tense; never an error. */
export interface ToastText {
  readonly text: string;
  /** Takes it back; absent: that is not possible. */
  readonly undo?: () => void;
}

/** What `Toast` shows, and ways to set and to end it. */
export function useToast() {
  const [toast, setToast] = useState<ToastText | null>(null);
  const endToast = useCallback(() => setToast(null), []);
  return { toast, setToast, endToast };
}

/** Milliseconds. */
const shownFor = 10_000;

/**
 * Says for a moment what was done, at the foot of the page.
 * @param toast null: nothing; a new object is shown anew
 */
export function Toast({
  toast,
  onEnd,
}: {
  readonly toast: ToastText | null;
  readonly onEnd: () => void;
}) {
  const say = useWords();
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (toast === null || isHeld) return undefined;
    const timer = setTimeout(onEnd, shownFor);
    return () => clearTimeout(timer);
  }, [toast, isHeld, onEnd]);
  const hold = (is: boolean) => () => setHeld(is);
  return (
    <div
      className={styles['place']}
      role="status"
      onMouseEnter={hold(true)}
      onMouseLeave={hold(false)}
      onFocus={hold(true)}
      onBlur={hold(false)}
    >
      {toast !== null && (
        <div className={styles['toast']}>
          <span>{toast.text}</span>
          {toast.undo !== undefined && (
            <button
              type="button"
              className="link"
              onClick={() => {
                setHeld(false);
                toast.undo?.();
              }}
            >
              {say('states.undo')}
            </button>
          )}
        </div>
      )}
    </div>
  );
}
