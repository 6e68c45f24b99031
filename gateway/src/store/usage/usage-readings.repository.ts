import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import {
  namesClients,
  namesPersons,
  rangeConditions,
  type RangeFilters,
} from './conditions.repository.ts';
import { splitAtHours } from './time-cuts.ts';
import { matching, type UsageFilter } from './usage.repository.ts';

type Db = Kysely<Database>;

/** Requests of a part of a range, by the class of their status. */
export interface HistogramBar {
  /** Unix milliseconds. */
  readonly time: number;
  readonly requests: number;
  readonly success: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
}

export interface Histogram {
  readonly bars: readonly HistogramBar[];
  readonly requests: number;
  readonly failed: number;
  readonly refused: number;
  /** Nano-USD. */
  readonly cost: bigint;
}

interface Counts {
  readonly bar: number;
  readonly outcome: string;
  /** The first digit of the status. */
  readonly class: number;
  readonly requests: number;
  readonly cost: bigint;
}

const hourMs = 3_600_000;

/** Counts the requests that a list with this filter shows, over time. @param step milliseconds */
export async function readHistogram(
  db: Db,
  filter: UsageFilter & { readonly from: number; readonly to: number },
  step: number,
): Promise<Histogram> {
  const { from, to } = filter;
  const { hours, edges } = splitAtHours(filter);
  const hasHours = step % hourMs === 0 && hours.from < hours.to;
  const ofHours = !hasHours ? null : isOfKinds(filter) ? countHours : namesOnly(filter);
  const rows = ofHours === null ? [] : await ofHours(db, { ...filter, ...hours }, step);
  for (const part of ofHours === null ? [{ from, to }] : edges) {
    rows.push(...(await countRows(db, { ...filter, ...part }, step)));
  }
  const bars = new Map<number, HistogramBar>();
  for (let time = from - (from % step); time < to; time += step) {
    bars.set(time, { time, requests: 0, success: 0, clientErrors: 0, serverErrors: 0 });
  }
  const total = { requests: 0, failed: 0, refused: 0, cost: 0n };
  for (const { bar, outcome, class: status, requests, cost } of rows) {
    total.requests += requests;
    total.cost += cost;
    if (outcome === 'failed' || outcome === 'refused') total[outcome] += requests;
    const entry = bars.get(bar);
    if (entry === undefined) continue;
    bars.set(bar, {
      time: bar,
      requests: entry.requests + requests,
      success: entry.success + (status < 4 ? requests : 0),
      clientErrors: entry.clientErrors + (status === 4 ? requests : 0),
      serverErrors: entry.serverErrors + (status >= 5 ? requests : 0),
    });
  }
  return { bars: [...bars.values()], ...total };
}

async function countRows(db: Db, filter: UsageFilter, step: number): Promise<Counts[]> {
  return (await matching(db, filter))
    .select([
      sql<number>`usage.time - usage.time % ${sql.lit(step)}`.as('bar'),
      'usage.outcome',
      sql<number>`usage.status / 100`.as('class'),
    ])
    .select(({ fn }) => [
      fn.sum<number>('usage.count').as('requests'),
      fn.coalesce(fn.sum<bigint>('usage.cost'), sql<bigint>`0`).as('cost'),
    ])
    .groupBy([sql.lit(1), sql.lit(2), sql.lit(3)])
    .execute();
}

async function countHours(
  db: Db,
  filter: KindFilter & { readonly from: number; readonly to: number },
  step: number,
): Promise<Counts[]> {
  return kindsWithin(db, filter)
    .select([
      sql<number>`hour - hour % ${sql.lit(step)}`.as('bar'),
      'outcome',
      sql<number>`status / 100`.as('class'),
    ])
    .select(({ fn }) => [
      fn.sum<number>('requests').as('requests'),
      fn.coalesce(fn.sum<bigint>('cost'), sql<bigint>`0`).as('cost'),
    ])
    .groupBy([sql.lit(1), sql.lit(2), sql.lit(3)])
    .execute();
}

/** What sums with names can be filtered by. */
const nameFilters: readonly string[] = [
  ['from', 'to', 'key', 'keyId', 'user', 'userId', 'team', 'teamIds'],
  ['model', 'channel', 'client', 'beginnings'],
].flat();

/** How requests are counted whose filter has nothing but names; null: it has more. */
function namesOnly(filter: UsageFilter): typeof countNamed | null {
  const isKnown = Object.entries(filter).every(
    ([name, value]) => value === undefined || nameFilters.includes(name),
  );
  return isKnown ? countNamed : null;
}

/**
 * Requests of some names: all of them from sums, and the few that did not succeed, whose status no sum has, from their
 * rows. Rows that are no longer kept leave their number in the sums.
 */
async function countNamed(db: Db, filter: RangeFilters, step: number): Promise<Counts[]> {
  const { beginnings } = filter;
  const isOfModel = filter.model !== undefined || beginnings?.model !== undefined;
  const isOfPersons = namesPersons(filter) || namesClients(filter);
  const table = isOfPersons ? 'usage_hourly' : 'usage_hourly_models';
  const { rows: sums } = await sql<{
    readonly bar: number;
    readonly requests: number;
    readonly failed: number;
    readonly refused: number;
    readonly cost: bigint;
  }>`select hour - hour % ${sql.lit(step)} as bar, sum(requests) as requests,
      sum(failed - refused) as failed, sum(refused) as refused, sum(cost) as cost
    from ${sql.table(table)} where ${await rangeConditions(db, table, filter)} group by 1`.execute(
    db,
  );
  const others = await (
    await matching(db, filter)
  )
    .select([
      sql<number>`usage.time - usage.time % ${sql.lit(step)}`.as('bar'),
      'usage.outcome',
      sql<number>`usage.status / 100`.as('class'),
      sql<number>`case when usage.attempts = '[]' then 0 else 1 end`.as('asked'),
    ])
    .select(({ fn }) => fn.sum<number>('usage.count').as('requests'))
    .where('usage.outcome', '<>', sql.lit('completed'))
    .groupBy([sql.lit(1), sql.lit(2), sql.lit(3), sql.lit(4)])
    .execute();
  // The costs of all of them are in the sums.
  const counts: Counts[] = others.map((other) => ({ ...other, cost: 0n }));
  for (const { bar, requests, failed, refused, cost } of sums) {
    // A request that was refused at once is in no sum of its model.
    const barRows = others.filter((row) => row.bar === bar && (row.asked === 1 || !isOfModel));
    const kept = (outcome: string) =>
      barRows
        .filter((row) => row.outcome === outcome)
        .reduce((total, row) => total + row.requests, 0);
    const endedCounts = {
      failed: Math.max(0, failed - kept('failed')),
      refused: Math.max(0, refused - kept('refused')),
    };
    const knownRequests = barRows.reduce((total, row) => total + row.requests, 0);
    const completed = Math.max(
      0,
      requests - knownRequests - endedCounts.failed - endedCounts.refused,
    );
    counts.push(
      { bar, outcome: 'completed', class: 2, requests: completed, cost },
      { bar, outcome: 'failed', class: 5, requests: endedCounts.failed, cost: 0n },
      { bar, outcome: 'refused', class: 4, requests: endedCounts.refused, cost: 0n },
    );
  }
  return counts;
}

/** What counts by the hour can be filtered by. */
const kindFilters = [
  'from',
  'to',
  'client',
  'protocol',
  'operation',
  'outcome',
  'statuses',
] as const;
type KindFilter = Pick<UsageFilter, (typeof kindFilters)[number]>;

/** Whether counts by the hour, which know no persons and models, serve this filter. */
function isOfKinds(filter: UsageFilter): boolean {
  return Object.entries(filter).every(
    ([name, value]) =>
      value === undefined ||
      (kindFilters as readonly string[]).includes(name) ||
      (name === 'beginnings' && Object.keys(value as object).length === 0),
  );
}

function kindsWithin(db: Db, filter: KindFilter & { readonly from: number; readonly to: number }) {
  const { client, protocol, operation, outcome, statuses } = filter;
  let query = db
    .selectFrom('usage_kinds')
    .where('hour', '>=', filter.from)
    .where('hour', '<', filter.to);
  if (client !== undefined) query = query.where('client', '=', client);
  if (protocol !== undefined) query = query.where('protocol', '=', protocol);
  if (operation !== undefined) query = query.where('operation', '=', operation);
  if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  if (statuses !== undefined) {
    query = query.where('status', '>=', statuses[0]).where('status', '<=', statuses[1]);
  }
  return query;
}

/** How often each value of these columns occurs, the most frequent first. */
export type KindCounts = Readonly<
  Record<'client' | 'protocol' | 'operation' | 'outcome' | 'status', readonly KindCount[]>
>;
export interface KindCount {
  readonly value: string;
  readonly count: number;
}

export async function countKinds(
  db: Db,
  filter: UsageFilter & { readonly from: number; readonly to: number },
): Promise<KindCounts> {
  const names = ['client', 'protocol', 'operation', 'outcome', 'status'] as const;
  const ofRows = async (range: Pick<typeof filter, 'from' | 'to'>) =>
    (await matching(db, { ...filter, ...range }))
      .select(names.map((name) => `usage.${name}` as const))
      .select(({ fn }) => fn.sum<number>('usage.count').as('requests'))
      .groupBy(names.map((name) => `usage.${name}` as const))
      .execute();
  const { hours, edges } = splitAtHours(filter);
  const rows = isOfKinds(filter)
    ? await kindsWithin(db, { ...filter, ...hours })
        .select(names)
        .select(({ fn }) => fn.sum<number>('requests').as('requests'))
        .groupBy(names)
        .execute()
    : await ofRows(filter);
  if (isOfKinds(filter)) for (const edge of edges) rows.push(...(await ofRows(edge)));
  return Object.fromEntries(
    names.map((name) => {
      const counts = new Map<string, number>();
      for (const row of rows) {
        const value = String(row[name]);
        counts.set(value, (counts.get(value) ?? 0) + row.requests);
      }
      const sortedCounts = [...counts].toSorted(([, a], [, b]) => b - a);
      return [name, sortedCounts.map(([value, count]) => ({ value, count }))];
    }),
  ) as unknown as KindCounts;
}
