import { errorWord, type UsageEntry, type UsageFilter } from '#usage/index.ts';

const named = ['key', 'user', 'team', 'model', 'channel', 'client'] as const;

/** What of a row a filter may look at. */
export type Matched = Pick<
  UsageEntry,
  (typeof named)[number] | 'protocol' | 'operation' | 'key_id'
> & {
  readonly user_id: string;
  readonly team_id: string | null;
  /** Absent: the request has not ended. */
  readonly ended?: Pick<
    UsageEntry,
    'outcome' | 'status' | 'error' | 'cost' | 'duration_ms' | 'attempts'
  >;
};

/** Whether a list with this filter shows the request. One that has not ended matches what is not known yet. */
export function matches(filter: UsageFilter, row: Matched): boolean {
  const { userId, teamIds = [], beginnings = {}, protocol, operation } = filter;
  if (userId !== undefined && row.user_id !== userId && !teamIds.includes(row.team_id ?? '')) {
    return false;
  }
  const ids: Partial<Record<(typeof named)[number], string | null>> = {
    key: row.key_id,
    user: row.user_id,
    team: row.team_id,
  };
  for (const name of named) {
    // The channel is unknown until one responds.
    if (name === 'channel' && row.ended === undefined) continue;
    const filterValue = name === 'user' ? filter[name]?.trim().toLowerCase() : filter[name];
    const is = row[name];
    if (filterValue !== undefined && is !== filterValue && ids[name] !== filter[name]) return false;
    const beginning = name === 'user' ? beginnings[name]?.toLowerCase() : beginnings[name];
    if (beginning !== undefined && (is === null || !is.startsWith(beginning))) return false;
  }
  if (protocol !== undefined && row.protocol !== protocol) return false;
  if (operation !== undefined && row.operation !== operation) return false;
  return row.ended === undefined || matchesEnd(filter, row.ended);
}

function matchesEnd(
  { outcome, statuses, minCost, minDuration, isAsked, tried, error }: UsageFilter,
  row: NonNullable<Matched['ended']>,
): boolean {
  if (outcome !== undefined && row.outcome !== outcome) return false;
  if (statuses !== undefined && (row.status < statuses[0] || row.status > statuses[1]))
    return false;
  const { attempts } = row;
  if (tried !== undefined && !attempts.some(({ channel }) => channel === tried)) return false;
  const isOfError =
    error === undefined ||
    row.error === error ||
    attempts.some((attempt) => errorWord(attempt) === error);
  if (!isOfError) return false;
  if (minCost !== undefined && nanoOf(row.cost) < minCost) return false;
  if (minDuration !== undefined && row.duration_ms < minDuration) return false;
  return isAsked === undefined || isAsked === attempts.length > 0;
}

/** Nothing was charged: less than any amount. */
function nanoOf(cost: string | null): bigint {
  if (cost === null) return -1n;
  const [whole = '0', fraction = ''] = cost.split('.');
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, '0'));
}
