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
  /** Only keys of the person with this e-mail address. */
  readonly user?: string;
  readonly sort?: Order;
}

/** What the address of the list says; anything else is left out. */
export function readKeysSearch({ make, q, user, sort }: Record<string, unknown>): KeysSearch {
  const order = readOrder(sortable, sort);
  return {
    ...(make === true && { make }),
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, 64) }),
    ...(typeof user === 'string' && user !== '' && { user: user.slice(0, 254) }),
    ...(order !== undefined && { sort: order }),
  };
}
