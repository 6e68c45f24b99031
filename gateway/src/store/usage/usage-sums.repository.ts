import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import type { Database } from '#database/schema.ts';
import { sessionKeyName } from '#database/expressions.ts';
import { areDaysWhole, cut, startOfHour, type Bucket } from './time-cuts.ts';
import { isTime, timePlace } from './usage-groups.repository.ts';
import { nameConditions, type NameFilters } from './conditions.repository.ts';
import type { ShownTokens } from './usage-entry.ts';

/** The dimensions of sums. */
export const groupings = [
  'hour',
  'day',
  'month',
  'model',
  'channel',
  'key',
  'user',
  'team',
  'client',
] as const;
export type Grouping = (typeof groupings)[number];

/** Usage summed up; the sums outlive the single rows. */
export interface UsageSum {
  /**
   * For each dimension: `2026-11-21T10:00Z`, `2026-11-21`, `2026-11` or a name; an id if the named object no longer
   * exists, and words in parentheses for requests that have none.
   */
  readonly names: readonly string[];
  readonly requests: number;
  /** How many of them failed or were refused. */
  readonly failed: number;
  /** How many of them were refused. */
  readonly refused: number;
  readonly tokens: ShownTokens;
  /** Images, without their layers. */
  readonly images: number;
  /** Milliseconds of videos that are charged by time. */
  readonly video_ms: number;
  /** Tokens of videos that are charged by them. */
  readonly video_tokens: number;
  /** Nano-USD. */
  readonly cost: bigint;
  /** Tokens that channels reported for failed attempts; only the operator pays for them. */
  readonly unbilled_tokens: number;
  /** Attempts at channels, whichever responded in the end. */
  readonly attempts: number;
  /** How many of them failed. */
  readonly failed_attempts: number;
}

export interface SumFilter extends NameFilters {
  /** Unix milliseconds. */
  readonly from?: number;
  readonly to?: number;
}

const hourMs = 3_600_000;

/**
 * Sums over whole hours: `from` is rounded down to an hour and `to` up. Times are in order, everything else by cost,
 * highest first; with two dimensions, what belongs to one name of the first stays together.
 * @param by one or two dimensions
 * @param timeZone an IANA name: days and months are those of this zone
 * @throws RangeError for days or months that begin in the middle of an hour of UTC
 */
export async function sumUsage(
  db: Kysely<Database>,
  filter: SumFilter,
  by: readonly Grouping[],
  timeZone = 'UTC',
): Promise<UsageSum[]> {
  const query = await matching(db, filter);
  const bucketsOf = new Map<Grouping, readonly Bucket[]>();
  const places = [];
  for (const grouping of by) {
    const buckets = await cutFor(query, grouping, timeZone);
    bucketsOf.set(grouping, buckets);
    places.push(nameOf(grouping, buckets));
  }
  const [first = sql<string>`''`, second = sql<string>`''`] = places;
  const rows = await query
    .select([first.as('name0'), second.as('name1')])
    .select(({ fn }) => [
      fn.sum<number>('requests').as('requests'),
      fn.sum<number>('failed').as('failed'),
      fn.sum<number>('refused').as('refused'),
      fn.sum<number>('input_tokens').as('input'),
      fn.sum<number>('cache_read_tokens').as('cache_read'),
      fn.sum<number>('cache_write_tokens').as('cache_write'),
      fn.sum<number>('cache_write_1h_tokens').as('cache_write_1h'),
      fn.sum<number>('output_tokens').as('output'),
      fn.sum<number>('reasoning_tokens').as('reasoning'),
      fn.sum<number>('images').as('images'),
      fn.sum<number>('video_ms').as('video_ms'),
      fn.sum<number>('video_tokens').as('video_tokens'),
      fn.sum<bigint>('cost').as('cost'),
      fn.sum<number>('unbilled_tokens').as('unbilled_tokens'),
      fn.sum<number>('attempts').as('attempts'),
      fn.sum<number>('failed_attempts').as('failed_attempts'),
    ])
    .groupBy([sql.lit(1), sql.lit(2)])
    .execute();
  const shownNames: ReadonlyMap<string, string>[] = [];
  for (const grouping of by) shownNames.push(await namesOf(db, grouping));
  const sums = rows.map(
    ({
      name0,
      name1,
      requests,
      failed,
      refused,
      images,
      video_ms,
      video_tokens,
      cost,
      unbilled_tokens,
      attempts,
      failed_attempts,
      ...tokens
    }): UsageSum => {
      const names = by.map((grouping, at) => {
        const name = at === 0 ? name0 : name1;
        if (isTime(grouping)) return timeOf(Number(name), grouping, bucketsOf.get(grouping) ?? []);
        return shownNames[at]?.get(String(name)) ?? named(String(name), grouping);
      });
      const videos = { video_ms, video_tokens };
      return {
        names,
        requests,
        failed,
        refused,
        tokens,
        images,
        ...videos,
        cost,
        unbilled_tokens,
        attempts,
        failed_attempts,
      };
    },
  );
  return inOrder(sums, by);
}

/** A request that was refused before an upstream was asked may name any model, so these are one group. */
function named(name: string, by: Grouping): string {
  if (name !== '') return name;
  return by === 'model' ? '(refused)' : `(no ${by})`;
}

function inOrder(sums: readonly UsageSum[], by: readonly Grouping[]): UsageSum[] {
  const [first, second] = by;
  const wholes = Map.groupBy(sums, ({ names: [name = ''] }) => name);
  const groups = Array.from(wholes, ([name, parts]) => ({
    name,
    cost: parts.reduce((sum, part) => sum + part.cost, 0n),
    requests: parts.reduce((sum, part) => sum + part.requests, 0),
    parts: parts
      .map(({ names: [, part = ''], cost, requests }, at) => ({ name: part, cost, requests, at }))
      .toSorted(isTime(second) ? byName : byCost)
      .flatMap(({ at }) => parts[at] ?? []),
  }));
  return groups.toSorted(isTime(first) ? byName : byCost).flatMap(({ parts }) => parts);
}

type Ordered = Pick<UsageSum, 'cost' | 'requests'> & { readonly name: string };

function byName(a: Ordered, b: Ordered): number {
  return a.name < b.name ? -1 : 1;
}

function byCost(a: Ordered, b: Ordered): number {
  if (a.cost !== b.cost) return a.cost > b.cost ? -1 : 1;
  return b.requests - a.requests || byName(a, b);
}

type Query = SelectQueryBuilder<Database, 'usage_hourly', object>;

async function matching(db: Kysely<Database>, filter: SumFilter): Promise<Query> {
  const { from, to } = filter;
  let query: Query = db.selectFrom('usage_hourly');
  if (from !== undefined) query = query.where('hour', '>=', startOfHour(from));
  if (to !== undefined) query = query.where('hour', '<', to);
  for (const condition of await nameConditions(db, 'usage_hourly', filter)) {
    query = query.where(condition);
  }
  return query;
}

/** The days or months of all that is summed up; none for another dimension. */
async function cutFor(query: Query, by: Grouping, timeZone: string): Promise<readonly Bucket[]> {
  if (by !== 'day' && by !== 'month') return [];
  const range = await query
    .select(({ fn }) => [fn.min('hour').as('first'), fn.max('hour').as('last')])
    .executeTakeFirst();
  if (range === undefined || range.last === null) return [];
  const [from, to] = [range.first, range.last + hourMs];
  if (!areDaysWhole(from, to, timeZone)) {
    throw new RangeError(
      `days of ${timeZone} begin in the middle of an hour of UTC, and sums have whole hours only: ask for hours, or for the days of UTC`,
    );
  }
  return cut(by, from, to, timeZone);
}

function nameOf(by: Grouping, buckets: readonly Bucket[]): RawBuilder<string | number> {
  if (isTime(by)) return timePlace(by, buckets) as RawBuilder<number>;
  // The keys of sessions in the console are one to whoever reads.
  if (by === 'key') {
    const ofSessions = sql`select id from keys where session_id is not null`;
    return sql`case when key_id in (${ofSessions}) then ${sql.lit(sessionKeyName)} else key_id end`;
  }
  const column = by === 'user' || by === 'team' ? `${by}_id` : by;
  return sql`${sql.ref(column)}`;
}

async function namesOf(db: Kysely<Database>, by: Grouping): Promise<ReadonlyMap<string, string>> {
  if (by === 'user') {
    const rows = await db.selectFrom('users').select(['id', 'email']).execute();
    return new Map(rows.map(({ id, email }) => [id, email]));
  }
  if (by !== 'key' && by !== 'team') return new Map();
  const rows = await db
    .selectFrom(by === 'key' ? 'keys' : 'teams')
    .select(['id', 'name'])
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

function timeOf(unixMs: number, by: Grouping, buckets: readonly Bucket[]): string {
  if (by === 'hour') return `${new Date(unixMs).toISOString().slice(0, 16)}Z`;
  return buckets.findLast(({ from }) => from <= unixMs)?.name ?? '';
}
