import { readOrder, type OrderBy } from '../../pieces/order.ts';

/** The columns that the list can be ordered by. */
export const sortable = [
  'team',
  'people',
  'monthly',
  'daily',
  'balance',
  'spent',
  'state',
] as const;
export type Sortable = (typeof sortable)[number];
export type Order = OrderBy<Sortable>;

export interface TeamsSearch {
  /** What is searched for. */
  readonly q?: string;
  readonly sort?: Order;
  /** The form of a new team is open. */
  readonly make?: true;
}

/** What the address of the list says; anything else is left out. */
export function readTeamsSearch({ q, sort, make }: Record<string, unknown>): TeamsSearch {
  const order = readOrder(sortable, sort);
  return {
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, 64) }),
    ...(order !== undefined && { sort: order }),
    ...(make === true && { make }),
  };
}
