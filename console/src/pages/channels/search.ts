import { readOrder, type OrderBy } from '../../pieces/order.ts';

/** The columns that channels can be ordered by. */
export const sortable = [
  'channel',
  'attempts',
  'success',
  'firstToken',
  'priority',
  'weight',
] as const;
export type Sortable = (typeof sortable)[number];
export type Order = OrderBy<Sortable>;

/** Which channels a list shows; absent: all of them. */
export const states = ['failing', 'resting', 'disabled'] as const;
export type StateChoice = (typeof states)[number];

export interface ChannelsSearch {
  /** What is searched for. */
  readonly q?: string;
  readonly state?: StateChoice;
  readonly sort?: Order;
}

/** What the address of the list says; anything else is left out. */
export function readChannelsSearch({ q, state, sort }: Record<string, unknown>): ChannelsSearch {
  const order = readOrder(sortable, sort);
  const choice = states.find((each) => each === state);
  return {
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, 64) }),
    ...(choice !== undefined && { state: choice }),
    ...(order !== undefined && { sort: order }),
  };
}
