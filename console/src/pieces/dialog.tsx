import { useEffect, useId, useRef, type ReactNode } from 'react';

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  /** For lines of code. */
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** In front of the page, which waits. `Esc` closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, isWide = false, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const before = useRef<Element>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog?.open === false) {
      before.current = document.activeElement;
      dialog.showModal();
    }
    return () => {
      // The browser returns the focus of a dialog that is closed, not of one that a button's action took away.
      const hasNone = document.activeElement === document.body;
      if (hasNone && before.current instanceof HTMLElement) before.current.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      onClose={onClose}
    >
      <h2 className="dialogTitle" id={id}>
        {title}
      </h2>
      {children}
    </dialog>
  );
}

/** The last line of a dialog in which there is nothing to decide. */
export function DialogEnd({
  word,
  onClose,
}: {
  readonly word: string;
  readonly onClose: () => void;
}) {
  return (
    <div className="dialogEnd">
      <button type="button" className="button main" onClick={onClose}>
        {word}
      </button>
    </div>
  );
}
