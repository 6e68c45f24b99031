import type { Key } from './page.tsx';
import type { Order, Sortable } from './search.ts';

/** Whether the highest, or the latest, is what is read first. */
export const isHighFirst = (column: Sortable): boolean => column === 'spent' || column === 'used';

/** In this order; without one, as they came. Keys that were never used come last either way. */
export function inOrder(keys: readonly Key[], order: Order | undefined): readonly Key[] {
  if (order === undefined) return keys;
  const sign = order.startsWith('-') ? -1 : 1;
  const column = order.replace('-', '') as Sortable;
  return keys.toSorted((a, b) => {
    if (column === 'key') return sign * a.name.localeCompare(b.name, 'en');
    if (column === 'person') return sign * a.user.localeCompare(b.user, 'en');
    if (column === 'spent') return sign * (Number(a.spent) - Number(b.spent));
    const [left, right] = [a.last_used_at, b.last_used_at];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * (Date.parse(left) - Date.parse(right));
  });
}
