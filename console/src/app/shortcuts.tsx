import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Dialog } from '../pieces/dialog.tsx';
import { Icon } from '../pieces/icon.tsx';
import { isPlain, useKeys } from '../pieces/use-keys.ts';
import { useWords } from '../words/index.ts';
import styles from './frame.module.css';
import { pagesFor } from './pages.ts';
import { useSession } from './session.ts';

const Palette = lazy(() => import('./palette.tsx'));

const control = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘' : 'Ctrl';

/** Milliseconds in which the letter of a page has to follow the `g`. */
const patience = 1_500;

/** What the keyboard does on every page, and the button that opens the search. */
export function Shortcuts() {
  const say = useWords();
  const navigate = useNavigate();
  const pages = pagesFor(useSession());
  const [open, setOpen] = useState<'palette' | 'help' | null>(null);

  /** The next key opens its page, and means nothing else: pages have keys of their own. */
  const go = () => {
    const stop = () => document.removeEventListener('keydown', press, true);
    const press = (event: KeyboardEvent): void => {
      stop();
      const page = isPlain(event) ? pages.find(({ letter }) => letter === event.key) : undefined;
      if (page === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      void navigate({ to: page.to });
    };
    document.addEventListener('keydown', press, true);
    setTimeout(stop, patience);
  };
  useKeys({ '?': () => setOpen('help'), g: go });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey) return;
      // A dialog may hold what is shown only once.
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      setOpen('palette');
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);

  const close = () => setOpen(null);
  return (
    <>
      <button
        type="button"
        className={styles['search']}
        title={say('palette.title')}
        onClick={() => setOpen('palette')}
      >
        <Icon name="search" />
        <span>{say('palette.search')}</span>
        <kbd>{control} K</kbd>
      </button>
      {open === 'palette' && (
        <Suspense>
          <Palette onClose={close} />
        </Suspense>
      )}
      {open === 'help' && <Help onClose={close} />}
    </>
  );
}

function Help({ onClose }: { readonly onClose: () => void }) {
  const say = useWords();
  const pages = pagesFor(useSession());
  const rows: readonly (readonly [keys: string, text: string])[] = [
    [`${control} K`, say('palette.title')],
    ['?', say('palette.help')],
    ...pages.map(({ letter, name }) => [`g ${letter}`, say(`app.${name}`)] as const),
    ['/', say('palette.filter')],
    ['f', say('palette.filterRow')],
    ['j  k', say('palette.rows')],
    ['↵', say('palette.open')],
    ['Esc', say('palette.close')],
    ['n', say('palette.newKey')],
  ];
  return (
    <Dialog title={say('palette.help')} onClose={onClose}>
      <table className="table">
        <tbody>
          {rows.map(([keys, text]) => (
            <tr key={keys}>
              <th scope="row">
                <kbd>{keys}</kbd>
              </th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
