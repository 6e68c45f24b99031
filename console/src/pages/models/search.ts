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

/** Beside the models. */
export const tabs = ['aliases', 'groups'] as const;
export type Tab = (typeof tabs)[number];

export interface ModelsSearch {
  readonly q?: string;
  readonly kind?: ModelKind;
  readonly sort?: Order;
  /** The whole catalogue. */
  readonly all?: true;
  readonly tab?: Tab;
}

/** What the address of the list says; anything else is left out. */
export function readModelsSearch({
  q,
  kind,
  sort,
  all,
  tab,
}: Record<string, unknown>): ModelsSearch {
  const known = kinds.find((each) => each === kind);
  const order = readOrder(columns, sort);
  const openTab = tabs.find((each) => each === tab);
  return {
    ...(typeof q === 'string' && q !== '' && { q: q.slice(0, 200) }),
    ...(known !== undefined && { kind: known }),
    ...(order !== undefined && { sort: order }),
    ...(all === true && { all }),
    ...(openTab !== undefined && { tab: openTab }),
  };
}
