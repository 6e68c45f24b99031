import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react';
import styles from './tabs.module.css';

interface Props<Name extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly name: Name; readonly title: string }[];
  readonly open: Name;
  readonly onOpen: (name: Name) => void;
  /** What belongs to the open tab. */
  readonly children: ReactNode;
}

/** One tab stop; arrows go from tab to tab. */
export function Tabs<Name extends string>({ label, tabs, open, onOpen, children }: Props<Name>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);

  function move(event: KeyboardEvent): void {
    const steps: Record<string, number> = { ArrowRight: 1, ArrowLeft: -1 };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const at = tabs.findIndex(({ name }) => name === open);
    const next = (at + step + tabs.length) % tabs.length;
    const tab = tabs[next];
    if (tab === undefined) return;
    onOpen(tab.name);
    list.current?.querySelectorAll('button')[next]?.focus();
  }

  return (
    <>
      <div
        className={styles['tabs']}
        role="tablist"
        aria-label={label}
        ref={list}
        onKeyDown={move}
        tabIndex={-1}
      >
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-controls={`${id}-panel`}
            aria-selected={name === open}
            tabIndex={name === open ? 0 : -1}
            onClick={() => onOpen(name)}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${open}`}>
        {children}
      </div>
    </>
  );
}
