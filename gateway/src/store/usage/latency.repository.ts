import { sql, type Kysely, type RawBuilder } from 'kysely';
import { sessionKeyName } from '#database/expressions.ts';
import type { Database } from '#database/schema.ts';
import {
  namesClients,
  namesPersons,
  rangeConditions,
  type RangeFilters,
} from './conditions.repository.ts';
import { bucketTime, type Percentiles } from './latency-buckets.ts';
import { cut, splitAtHours, wholeDays, type Bucket } from './time-cuts.ts';
import {
  areCutInUtc,
  countRequests,
  type Dimension,
  firstsOf,
  type Firsts,
  foldedPlace,
  inOrder,
  isTime,
  nameOf,
  restOf,
  timePlace,
} from './usage-groups.repository.ts';
import { matching } from './usage.repository.ts';

type Db = Kysely<Database>;
type Source = RawBuilder<unknown>;

export interface LatencyQuestion extends RangeFilters {
  /** At most one of them a time; none: all requests together. */
  readonly by: readonly Dimension[];
  /** The number of names, those with most requests, that stand for themselves; the others share one. */
  readonly first: number;
  /** An IANA name: days and months are cut there. */
  readonly timeZone: string;
}

export interface Latency {
  /** One for each dimension; null: all that are not among the first. */
  readonly names: readonly (string | null)[];
  readonly requests: number;
  readonly firstToken: Percentiles | null;
  readonly duration: Percentiles | null;
}

export interface Latencies {
  /** Of what has requests. */
  readonly groups: readonly Latency[];
  /** The parts of the range, if one of the dimensions is a time; also those without requests. */
  readonly buckets: readonly Bucket[] | null;
  /** For each dimension: the number of names beyond the first ones. */
  readonly rest: readonly number[];
}

/** So many single requests are read where no times are kept, which takes about two seconds. */
export const mostLatencyRows = 200_000;

/**
 * How long completed requests took, within 5 %. Times are kept by model and channel; those of persons and clients are of
 * their single requests.
 * @param mostRows for tests: so many of these are read
 * @returns null if there are more of them
 */
export async function readLatency(
  db: Db,
  question: LatencyQuestion,
  mostRows = mostLatencyRows,
): Promise<Latencies | null> {
  const { by, from, to, timeZone } = question;
  const areKept =
    !namesPersons(question) &&
    !namesClients(question) &&
    by.every((dimension) => isTime(dimension) || dimension === 'model' || dimension === 'channel');
  if (!areKept && (await countRequests(db, question)) > mostRows) return null;
  const time = by.find(isTime);
  const buckets = time === undefined ? null : cut(time, from, to, timeZone);
  const firsts: Firsts[] = [];
  for (const dimension of by) {
    const found = await firstsOf(db, { ...question, metric: 'requests' }, dimension);
    firsts.push(dimension === 'key' ? await withOneSession(db, found) : found);
  }
  const [first = sql`''`, second = sql`''`] = by.map((dimension, at) =>
    isTime(dimension)
      ? timePlace(dimension, buckets ?? [])
      : foldedPlace(dimension, firsts[at]?.names ?? []),
  );
  const isOfDays = time === undefined || (time !== 'hour' && areCutInUtc(buckets ?? [], from));
  const times = areKept
    ? await keptTimes(db, question, isOfDays)
    : await timesOfRows(db, question, by);
  const percentile = (share: number) =>
    sql`min(case when upto * 100 >= total * ${sql.lit(share)} then bucket end)`;
  const { rows } = await sql<MeasureRow>`
    select name0, name1, measure, max(total) as requests, ${percentile(50)} as p50,
      ${percentile(95)} as p95, ${percentile(99)} as p99
    from (
      select name0, name1, measure, bucket,
        sum(requests) over (partition by name0, name1, measure order by bucket) as upto,
        sum(requests) over (partition by name0, name1, measure) as total
      from (
        select ${first} as name0, ${second} as name1, measure, bucket, sum(requests) as requests
        from ${times} group by 1, 2, 3, 4) as counts) as running
    group by 1, 2, 3`.execute(db);
  const groups = new Map<string, Latency>();
  for (const { name0, name1, measure, requests, ...found } of rows) {
    const names = [name0, name1]
      .slice(0, by.length)
      .map((name, at) => (isTime(by[at]) ? nameOf(buckets ?? [], Number(name)) : name));
    const key = JSON.stringify(names);
    const group = groups.get(key) ?? { names, requests: 0, firstToken: null, duration: null };
    const { p50, p95, p99 } = found;
    const percentiles = { p50: bucketTime(p50), p95: bucketTime(p95), p99: bucketTime(p99) };
    groups.set(
      key,
      measure === 'first_token'
        ? { ...group, firstToken: percentiles }
        : { ...group, requests, duration: percentiles },
    );
  }
  return {
    groups: [...groups.values()].toSorted(inOrder(question, firsts)),
    buckets,
    rest: restOf(firsts),
  };
}

interface MeasureRow extends Percentiles {
  readonly name0: string | null;
  readonly name1: string | null;
  readonly measure: 'first_token' | 'duration';
  readonly requests: number;
}

/** Of whole days by the day, of other hours by the hour. @param isOfDays whether whole days in UTC are never cut */
async function keptTimes(db: Db, filter: RangeFilters, isOfDays: boolean): Promise<Source> {
  const { hours, edges } = splitAtHours(filter);
  const days = isOfDays ? wholeDays(hours) : { from: hours.to, to: hours.to };
  const part = async (table: 'latency_hourly' | 'latency_daily', from: number, to: number) => {
    const time = sql.ref(table === 'latency_daily' ? 'day' : 'hour');
    const conditions = await rangeConditions(db, table, { ...filter, from, to });
    return sql`select ${time} as hour, model, channel, measure, bucket, requests
      from ${sql.table(table)} where ${conditions}`;
  };
  const parts = [
    await part('latency_hourly', hours.from, days.from),
    await part('latency_daily', days.from, days.to),
    await part('latency_hourly', days.to, hours.to),
  ];
  for (const edge of edges) {
    parts.push(sql`select * from ${await timesOfRows(db, { ...filter, ...edge })}`);
  }
  return sql`(${sql.join(parts, sql` union all `)}) as times`;
}

/** The keys of sessions in the console are one to whoever reads, and their times are not added up afterwards. */
async function withOneSession(db: Db, { names = [], all }: Firsts): Promise<Firsts> {
  const sessions = await db
    .selectFrom('keys')
    .select('id')
    .where('id', 'in', ['', ...names])
    .where('session_id', 'is not', null)
    .execute();
  const ids = new Set(sessions.map(({ id }) => id));
  const merged = [...new Set(names.map((id) => (ids.has(id) ? sessionKeyName : id)))];
  return { names: merged, all: all - (names.length - merged.length) };
}

const ofSession = sql`usage.key_id in (select id from keys where session_id is not null)`;
const columnsOf = {
  key: sql`case when ${ofSession} then ${sql.lit(sessionKeyName)} else usage.key_id end`.as(
    'key_id',
  ),
  user: sql`usage.user_id`.as('user_id'),
  team: sql`coalesce(usage.team_id, '')`.as('team_id'),
  client: sql`usage.client`.as('client'),
};

/**
 * Of single requests: the kept times know neither persons nor clients, nor parts of hours.
 * @param by what is needed besides models and channels
 */
async function timesOfRows(
  db: Db,
  filter: RangeFilters,
  by: readonly Dimension[] = [],
): Promise<Source> {
  const rows = await matching(db, filter);
  const more = by.flatMap((name) =>
    name in columnsOf ? [columnsOf[name as keyof typeof columnsOf]] : [],
  );
  const part = (measure: string, column: 'ttft_ms' | 'duration_ms') => {
    const value = sql.ref(`usage.${column}`);
    const times = rows
      .select([
        // Not before the range, whose first part begins there.
        sql`case when usage.time - usage.time % 3600000 < ${sql.lit(filter.from)} then ${sql.lit(filter.from)}
          else usage.time - usage.time % 3600000 end`.as('hour'),
        'usage.model',
        sql`coalesce(usage.channel, '')`.as('channel'),
        sql`${sql.lit(measure)}`.as('measure'),
        sql`case when ${value} <= 1 then 0
          else cast(floor(ln(${value}) / ln(1.1)) as integer) end`.as('bucket'),
        'usage.count as requests',
        ...more,
      ])
      .where('usage.outcome', '=', 'completed')
      .where(value, 'is not', null);
    return sql`select * from ${times} as ${sql.ref(measure)}`;
  };
  return sql`(${part('first_token', 'ttft_ms')} union all
    ${part('duration', 'duration_ms')}) as times`;
}
