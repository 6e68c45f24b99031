import { readOrder, type OrderBy } from '../../pieces/order.ts';
import { kinds, type ModelKind } from './kinds.ts';

/** The columns that the list can be ordered by. */
export const columns = [
  'model',
  'window',
  'input',
  'cached',
  'output',
  'success',
  'firstToken',
  'speed',
] as const;
export type Column = (typeof columns)[number];
export type Order = OrderBy<Column>;

export interface ModelsSearch {
  readonly q?: string;
  readonly kind?: ModelKind;
  readonly sort?: Order;
}

/** What the address of the list says; anything else is left out. */
export function readModelsSearch({ q, kind, sort }: Record<string, unknown>): ModelsSearch {
  const known = kinds.find((each) => each === kind);
  const order = readOrder(columns, sort);
  return {
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, 200) }),
    ...(known !== undefined && { kind: known }),
    ...(order !== undefined && { sort: order }),
  };
}
