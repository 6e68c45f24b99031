import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import { nameConditions, type NameFilters } from './conditions.repository.ts';
import { percentilesOf, type Percentiles } from './latency-buckets.ts';
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

/** Counts the requests that a list with this filter shows, over time. @param step milliseconds */
export async function readHistogram(
  db: Db,
  filter: UsageFilter & { readonly from: number; readonly to: number },
  step: number,
): Promise<Histogram> {
  const query = await matching(db, filter);
  const rows = await query
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
  const bars = new Map<number, HistogramBar>();
  for (let time = filter.from - (filter.from % step); time < filter.to; time += step) {
    bars.set(time, { time, requests: 0, success: 0, clientErrors: 0, serverErrors: 0 });
  }
  const total = { requests: 0, failed: 0, refused: 0, cost: 0n };
  for (const { bar, outcome, class: status, requests, cost } of rows) {
    total.requests += requests;
    total.cost += cost;
    if (outcome === 'failed' || outcome === 'refused') total[outcome] += requests;
    const known = bars.get(bar);
    if (known === undefined) continue;
    bars.set(bar, {
      time: bar,
      requests: known.requests + requests,
      success: known.success + (status < 4 ? requests : 0),
      clientErrors: known.clientErrors + (status === 4 ? requests : 0),
      serverErrors: known.serverErrors + (status >= 5 ? requests : 0),
    });
  }
  return { bars: [...bars.values()], ...total };
}

/** How often each value of these columns occurs, the most frequent first. */
export type KindCounts = Readonly<
  Record<'client' | 'protocol' | 'operation' | 'outcome' | 'status', readonly KindCount[]>
>;
export interface KindCount {
  readonly value: string;
  readonly count: number;
}

export async function countKinds(db: Db, filter: UsageFilter): Promise<KindCounts> {
  const names = ['client', 'protocol', 'operation', 'outcome', 'status'] as const;
  const rows = await (
    await matching(db, filter)
  )
    .select(['usage.client', 'usage.protocol', 'usage.operation', 'usage.outcome', 'usage.status'])
    .select(({ fn }) => fn.sum<number>('usage.count').as('requests'))
    .groupBy([1, 2, 3, 4, 5].map((at) => sql.lit(at)))
    .execute();
  return Object.fromEntries(
    names.map((name) => {
      const counts = new Map<string, number>();
      for (const row of rows) {
        const value = String(row[name]);
        counts.set(value, (counts.get(value) ?? 0) + row.requests);
      }
      const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
      return [name, sorted.map(([value, count]) => ({ value, count }))];
    }),
  ) as unknown as KindCounts;
}

export interface Latency {
  /** A model or channel. */
  readonly name: string;
  readonly requests: number;
  readonly firstToken: Percentiles | null;
  readonly duration: Percentiles | null;
}

/** Of all completed requests; by nothing: of all of them together, under an empty name. */
export async function readLatency(
  db: Db,
  filter: NameFilters & { readonly from: number; readonly to: number },
  by: 'model' | 'channel' | null,
): Promise<Latency[]> {
  const { key, keyId, user, userId, team, beginnings = {} } = filter;
  const isOfPersons =
    [key, keyId, user, userId, team].some((value) => value !== undefined) ||
    [beginnings.key, beginnings.user, beginnings.team].some((value) => value !== undefined);
  const rows = isOfPersons ? await countRows(db, filter, by) : await countHours(db, filter, by);
  const found = new Map<string, Record<'first_token' | 'duration', Map<number, number>>>();
  for (const { name, measure, bucket, requests } of rows) {
    const counts = found.get(name) ?? { first_token: new Map(), duration: new Map() };
    found.set(name, counts);
    counts[measure].set(bucket, requests);
  }
  const latencies = [...found].map(([name, counts]) => ({
    name,
    requests: counts.duration.values().reduce((sum, count) => sum + count, 0),
    firstToken: percentilesOf(counts.first_token),
    duration: percentilesOf(counts.duration),
  }));
  return latencies.toSorted((a, b) => b.requests - a.requests);
}

interface Count {
  readonly name: string;
  readonly measure: 'first_token' | 'duration';
  readonly bucket: number;
  readonly requests: number;
}

async function countHours(
  db: Db,
  filter: NameFilters & { readonly from: number; readonly to: number },
  by: 'model' | 'channel' | null,
): Promise<Count[]> {
  const name = by === null ? sql<string>`''` : sql<string>`${sql.ref(by)}`;
  let query = db
    .selectFrom('latency_hourly')
    .select(name.as('name'))
    .select(['measure', 'bucket'])
    .select(({ fn }) => fn.sum<number>('requests').as('requests'))
    .where('hour', '>=', filter.from)
    .where('hour', '<', filter.to)
    .groupBy([sql.lit(1), sql.lit(2), sql.lit(3)]);
  for (const condition of await nameConditions(db, 'latency_hourly', filter)) {
    query = query.where(condition);
  }
  return query.execute();
}

/** Single requests, because sums by the hour know no persons. */
async function countRows(
  db: Db,
  filter: UsageFilter,
  by: 'model' | 'channel' | null,
): Promise<Count[]> {
  const counts: Count[] = [];
  const name = by === null ? sql<string>`''` : sql<string>`coalesce(${sql.ref(`usage.${by}`)}, '')`;
  for (const [measure, column] of [
    ['first_token', 'usage.ttft_ms'],
    ['duration', 'usage.duration_ms'],
  ] as const) {
    const value = sql.ref(column);
    const query = await matching(db, filter);
    const rows = await query
      .select([
        name.as('name'),
        sql<number>`case when ${value} <= 1 then 0
          else cast(floor(ln(${value}) / ln(1.1)) as integer) end`.as('bucket'),
      ])
      .select(({ fn }) => fn.sum<number>('usage.count').as('requests'))
      .where('usage.outcome', '=', 'completed')
      .where(column, 'is not', null)
      .groupBy([sql.lit(1), sql.lit(2)])
      .execute();
    counts.push(...rows.map((row) => ({ ...row, measure })));
  }
  return counts;
}
