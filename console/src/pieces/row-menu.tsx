import { Menu } from '@base-ui/react/menu';
import { useRef, useState } from 'react';
import { Icon } from './icon.tsx';
import styles from './menu.module.css';

/** Something that can be done with a row. */
export interface RowAction {
  readonly word: string;
  readonly act: () => unknown;
  /** What the entry says afterwards, where nothing else shows that it was done; the menu stays open. */
  readonly done?: string;
}

/** What can be done with a row, behind its last button. */
export function RowMenu({
  label,
  actions,
}: {
  readonly label: string;
  readonly actions: readonly RowAction[];
}) {
  const button = useRef<HTMLButtonElement>(null);
  const chosen = useRef<RowAction>(null);
  const [done, setDone] = useState<string | null>(null);
  if (actions.length === 0) return null;
  return (
    <Menu.Root
      modal={false}
      onOpenChange={() => setDone(null)}
      onOpenChangeComplete={(isOpen) => {
        if (isOpen || chosen.current === null) return;
        // What opens now gives the focus back to the button.
        button.current?.focus();
        chosen.current.act();
        chosen.current = null;
      }}
    >
      <Menu.Trigger ref={button} className="button bare" aria-label={label}>
        <Icon name="more" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className={styles['place']} align="end" sideOffset={2}>
          <Menu.Popup className={styles['entries']}>
            {actions.map((action) => (
              <Menu.Item
                key={action.word}
                className={styles['entry']}
                closeOnClick={action.done === undefined}
                onClick={() => {
                  if (action.done === undefined) {
                    chosen.current = action;
                    return;
                  }
                  setDone(action.word);
                  action.act();
                }}
              >
                {done === action.word ? action.done : action.word}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
