import { useId, useRef, useState, type ReactNode } from 'react';
import styles from './menu.module.css';

interface Props {
  /** What the button says. */
  readonly word: string;
  /** `close` ends it, and gives the focus back to the button. */
  readonly children: ReactNode | ((close: () => void) => ReactNode);
  readonly className?: string | undefined;
}

/** A button that opens a sheet below itself. `Esc` and whatever lies outside close it. */
export function Menu({ word, children, className = '' }: Props) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div
      className={`${styles['menu']} ${className}`}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setOpen(false);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        // Not for the page as well.
        event.stopPropagation();
        close();
      }}
    >
      <button
        type="button"
        className="button"
        ref={button}
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => setOpen(!isOpen)}
      >
        {word}
      </button>
      {isOpen && (
        // It takes the focus where nothing in it does, so that a click there leaves it open.
        <div className={styles['sheet']} id={id} tabIndex={-1} role="group" aria-label={word}>
          {typeof children === 'function' ? children(close) : children}
        </div>
      )}
    </div>
  );
}
