import { readOrder, type OrderBy } from '../../pieces/order.ts';

/** The columns that the list can be ordered by. */
export const sortable = [
  'person',
  'role',
  'state',
  'left',
  'balance',
  'spent',
  'keys',
  'seen',
] as const;
export type Sortable = (typeof sortable)[number];
export type Order = OrderBy<Sortable>;

export interface PeopleSearch {
  /** What is searched for. */
  readonly q?: string;
  readonly sort?: Order;
  /** The form of an invitation is open. */
  readonly invite?: true;
}

/** What the address of the list says; anything else is left out. */
export function readPeopleSearch({ q, sort, invite }: Record<string, unknown>): PeopleSearch {
  const order = readOrder(sortable, sort);
  return {
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, 64) }),
    ...(order !== undefined && { sort: order }),
    ...(invite === true && { invite }),
  };
}
