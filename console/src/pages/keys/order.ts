import type { Key } from './page.tsx';
import type { Sortable } from './search.ts';

/** What keys are ordered by. */
export const valueOf: Readonly<Record<Sortable, (key: Key) => number | string | null>> = {
  key: ({ name }) => name,
  person: ({ user }) => user,
  spent: ({ spent }) => Number(spent),
  used: ({ last_used_at: time }) => (time === null ? null : Date.parse(time)),
};

/** Whether the highest, or the latest, is what is read first. */
export const isHighFirst = (column: Sortable): boolean => column === 'spent' || column === 'used';
