import {
  createContext,
  useId,
  useLayoutEffect,
  useRef,
  type ReactNode,
  type RefObject,
} from 'react';

/** The dialog around a control: what the control opens has to be inside it, because the page behind waits. */
export const AroundDialog = createContext<RefObject<HTMLElement | null> | undefined>(undefined);

interface Props {
  readonly title: string;
  readonly onClose: () => void;
  /** For lines of code. */
  readonly isWide?: boolean;
  /** A closed one keeps what was typed. */
  readonly isOpen?: boolean;
  readonly children: ReactNode;
}

/** In front of the page, which waits. `Esc` closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, isWide = false, isOpen = true, children }: Props) {
  const element = useRef<HTMLDialogElement>(null);
  const before = useRef<Element>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    if (!isOpen) return undefined;
    if (dialog?.open === false) {
      before.current = document.activeElement;
      dialog.showModal();
    }
    return () => {
      dialog?.close();
      // The browser returns the focus of a dialog that is closed, not of one that a button's action took away.
      const hasNone = document.activeElement === document.body;
      if (hasNone && before.current instanceof HTMLElement) before.current.focus();
    };
  }, [isOpen]);
  return (
    <dialog
      ref={element}
      className={isWide ? 'dialog wide' : 'dialog'}
      aria-labelledby={id}
      // The page closes it: one that the browser had closed already could not be opened again before the page knows.
      onCancel={(event) => {
        if (event.target !== element.current) return;
        event.preventDefault();
        onClose();
      }}
      // The browser reports with the next frame what it has closed. By then the page may have opened it again.
      onClose={() => isOpen && element.current?.open === false && onClose()}
    >
      <h2 className="dialogTitle" id={id}>
        {title}
      </h2>
      <AroundDialog value={element}>{children}</AroundDialog>
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
