import { readRangeSearch, type RangeSearch } from '../../app/range.ts';

export const overviewMetrics = ['cost', 'tokens', 'requests'] as const;
export const overviewDimensions = ['model', 'team', 'key', 'channel'] as const;

/** What the chart shows; in the address. */
export interface OverviewSearch extends RangeSearch {
  readonly metric?: (typeof overviewMetrics)[number];
  readonly group?: (typeof overviewDimensions)[number];
}

export function readOverviewSearch(search: Record<string, unknown>): OverviewSearch {
  const metric = overviewMetrics.find((value) => value === search['metric']);
  const group = overviewDimensions.find((value) => value === search['group']);
  return {
    ...readRangeSearch(search),
    ...(metric !== undefined && { metric }),
    ...(group !== undefined && { group }),
  };
}
