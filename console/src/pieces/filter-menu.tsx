import { Menu } from '@base-ui/react/menu';
import { useWords } from '../words/index.ts';
import type { OnFilter } from './cell-filter.tsx';
import styles from './menu.module.css';

interface Props {
  /** Its cells have the words. */
  readonly row: Element;
  readonly onFilter: OnFilter;
  readonly onClose: () => void;
}

/** What a row can be filtered by: only requests like it, or all others. */
export function FilterMenu({ row, onFilter, onClose }: Props) {
  const say = useWords();
  const words = new Set(
    Array.from(row.querySelectorAll<HTMLElement>('[data-word]'), ({ dataset }) => dataset['word']),
  );
  return (
    <Menu.Root modal={false} open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Menu.Portal>
        <Menu.Positioner className={styles['place']} anchor={row} align="start" sideOffset={2}>
          <Menu.Popup className={styles['entries']} aria-label={say('requests.filterRow')}>
            {[...words].flatMap((word = '') =>
              ([false, true] as const).map((isExcluded) => (
                <Menu.Item
                  key={`${word} ${isExcluded}`}
                  className={styles['entry']}
                  onClick={() => onFilter(word, isExcluded)}
                >
                  {say(isExcluded ? 'requests.without' : 'requests.only', { word })}
                </Menu.Item>
              )),
            )}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
