import type { Day } from '../../app/days.ts';
import { readRangeSearch, type RangeSearch } from '../../app/range.ts';
import { readOrder } from '../../pieces/order.ts';
import { sumsColumns, type SumsOrder } from '../../pieces/sums/sums-table.tsx';
import { dimensions, figures, type Dimension, type Figure } from '../../pieces/sums/sums.ts';

/** Two days in their order. */
export function readDays(value: unknown): readonly [first: Day, last: Day] | null {
  const [, first, last] = /^(\d{4}-\d\d-\d\d)\.\.(\d{4}-\d\d-\d\d)$/.exec(String(value)) ?? [];
  const isDay = (day: string | undefined) => !Number.isNaN(Date.parse(`${day}T00:00Z`));
  if (first === undefined || last === undefined || first > last) return null;
  return isDay(first) && isDay(last) ? [first, last] : null;
}

export const buckets = ['hour', 'day', 'month'] as const;
export type Bucket = (typeof buckets)[number];

/** What the page shows; everything is in the address, so a link shows the same to whoever may see it. */
export interface UsageSearch extends RangeSearch {
  readonly metric?: Figure;
  readonly group?: Dimension;
  readonly sub?: Dimension;
  readonly bucket?: Bucket;
  readonly view?: 'table';
  readonly cumulative?: true;
  /** Against the span before, or `against`. */
  readonly compare?: true;
  /** The first and the last day of the span to compare with, such as `2026-11-01..2026-11-07`. */
  readonly against?: string;
  readonly filter?: string;
  readonly sort?: SumsOrder;
}

export function readUsageSearch(search: Record<string, unknown>): UsageSearch {
  const one = <Value extends string>(known: readonly Value[], name: string): Value | undefined =>
    known.find((value) => value === search[name]);
  const metric = one(figures, 'metric');
  const group = one(dimensions, 'group');
  const sub = one(dimensions, 'sub');
  const bucket = one(buckets, 'bucket');
  const sort = readOrder(sumsColumns, search['sort']);
  return {
    ...readRangeSearch(search),
    ...(metric !== undefined && { metric }),
    ...(group !== undefined && { group }),
    ...(sub !== undefined && { sub }),
    ...(bucket !== undefined && { bucket }),
    ...(search['view'] === 'table' && { view: 'table' }),
    ...(search['cumulative'] === true && { cumulative: true }),
    ...(search['compare'] === true && { compare: true }),
    ...(readDays(search['against']) !== null && { against: String(search['against']) }),
    ...(sort !== undefined && { sort }),
    ...(typeof search['filter'] === 'string' && { filter: search['filter'].slice(0, 400) }),
  };
}
