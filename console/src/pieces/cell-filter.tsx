import { lazy, Suspense, useState, type MouseEvent } from 'react';
import { useWords } from '../words/index.ts';
import { useKeys } from './use-keys.ts';

/** Loads when it is opened. */
const FilterMenu = lazy(async () => ({ default: (await import('./filter-menu.tsx')).FilterMenu }));

/** Narrows to what a word of the filter line says, or leaves that out. */
export type OnFilter = (word: string, isExcluded: boolean) => void;

/** For a cell or a part of it: by what a click on it filters, and how. Null: by nothing. */
export function useCellWord(): (word: string | null) => object {
  const say = useWords();
  return (word) =>
    word === null ? {} : { 'data-word': word, title: say('requests.filterCell', { word }) };
}

/**
 * What a click filters by; null: it is meant for something else. With Alt it excludes. Links lead where they say, other
 * keys open things elsewhere, and fingers are too wide for a part of a row.
 */
export function filterOfClick({ target, nativeEvent, ...keys }: MouseEvent) {
  const { altKey: isExcluded, ctrlKey, metaKey, shiftKey } = keys;
  const place = target instanceof Element ? target.closest<HTMLElement>('[data-word]') : null;
  const word = place?.dataset['word'];
  if (word === undefined || ctrlKey || metaKey || shiftKey) return null;
  const isTouch = nativeEvent instanceof PointerEvent && nativeEvent.pointerType === 'touch';
  const isLink = target instanceof Element && target.closest('a') !== null;
  return !isExcluded && (isTouch || isLink)
    ? null
    : { word, isExcluded, isWholeCell: place?.tagName === 'TD' };
}

/** The same by keyboard: `f` opens a menu of the row with the focus, or of the one that `j` and `k` have reached. */
export function FilterKey({ onFilter }: { readonly onFilter: OnFilter }) {
  const [row, setRow] = useState<Element | null>(null);
  useKeys({
    f: () =>
      setRow(
        document.activeElement?.closest('tr:has([data-word])') ??
          document.querySelector('tr[data-focused="true"]'),
      ),
  });
  if (row === null) return null;
  return (
    <Suspense>
      <FilterMenu row={row} onFilter={onFilter} onClose={() => setRow(null)} />
    </Suspense>
  );
}
