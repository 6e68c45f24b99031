import type { RefObject } from 'react';
import { useKeys } from './use-keys.ts';

/** `j` and `k` move the focus through the rows of a table: to the first link of the next one and of the one before. */
export function useRowFocus(table: RefObject<HTMLElement | null>): void {
  const step = (by: 1 | -1): void => {
    const rows = [...(table.current?.querySelectorAll('tbody tr') ?? [])];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    rows[at === -1 ? 0 : at + by]?.querySelector('a')?.focus();
  };
  useKeys({ j: () => step(1), k: () => step(-1) });
}
