import { readOrder, type OrderBy } from '../../pieces/order.ts';

/** The columns that keys can be ordered by. */
export const sortable = ['key', 'person', 'spent', 'used'] as const;
export type Sortable = (typeof sortable)[number];
export type Order = OrderBy<Sortable>;

export interface KeysSearch {
  /** The form of a new key is open. */
  readonly make?: true;
  /** What is searched for. */
  readonly q?: string;
  readonly sort?: Order;
}

/** What the address of the list says; anything else is left out. */
export function readKeysSearch({ make, q, sort }: Record<string, unknown>): KeysSearch {
  const order = readOrder(sortable, sort);
  return {
    ...(make === true && { make }),
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, 64) }),
    ...(order !== undefined && { sort: order }),
  };
}
