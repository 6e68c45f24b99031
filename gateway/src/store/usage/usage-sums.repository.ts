import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import type { Database } from '#database/schema.ts';
import { sessionKeyName } from '#database/expressions.ts';
import { wholeHours } from './time-cuts.ts';
import { nameConditions, type NameFilters } from './conditions.repository.ts';
import type { ShownTokens } from './usage-entry.ts';

/** The dimensions of sums. Hours and days are in UTC. */
export const groupings = [
  'hour',
  'day',
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
   * `2026-11-21T10:00Z`, `2026-11-21`, or a name; an id if the named object no longer exists, and words in parentheses
   * for requests that have none.
   */
  readonly name: string;
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
}

export interface SumFilter extends NameFilters {
  /** Unix milliseconds. */
  readonly from?: number;
  readonly to?: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/**
 * Sums over whole hours: `from` is rounded down to an hour and `to` up. Hours and days are in order, everything else
 * by cost, highest first.
 */
export async function sumUsage(
  db: Kysely<Database>,
  filter: SumFilter,
  by: Grouping,
): Promise<UsageSum[]> {
  const rows = await (
    await matching(db, filter)
  )
    .select(nameOf(by).as('name'))
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
    ])
    .groupBy(sql.lit(1))
    .execute();
  const names = await namesOf(db, by);
  const sums = rows.map(
    ({
      name,
      requests,
      failed,
      refused,
      images,
      video_ms,
      video_tokens,
      cost,
      unbilled_tokens,
      ...tokens
    }): UsageSum => {
      const shownName =
        typeof name === 'number' ? timeOf(name, by) : (names.get(name) ?? named(name, by));
      const videos = { video_ms, video_tokens };
      return {
        name: shownName,
        requests,
        failed,
        refused,
        tokens,
        images,
        ...videos,
        cost,
        unbilled_tokens,
      };
    },
  );
  return sums.toSorted(by === 'day' || by === 'hour' ? byName : byCost);
}

/** A request that was refused before an upstream was asked may name any model, so these are one group. */
function named(name: string, by: Grouping): string {
  if (name !== '') return name;
  return by === 'model' ? '(refused)' : `(no ${by})`;
}

function byName(a: UsageSum, b: UsageSum): number {
  return a.name < b.name ? -1 : 1;
}

function byCost(a: UsageSum, b: UsageSum): number {
  if (a.cost !== b.cost) return a.cost > b.cost ? -1 : 1;
  return b.requests - a.requests || byName(a, b);
}

type Query = SelectQueryBuilder<Database, 'usage_hourly', object>;

async function matching(db: Kysely<Database>, filter: SumFilter): Promise<Query> {
  const { from, to } = filter;
  let query: Query = db.selectFrom('usage_hourly');
  if (from !== undefined) query = query.where('hour', '>=', wholeHours({ from, to: from }).from);
  if (to !== undefined) query = query.where('hour', '<', to);
  for (const condition of await nameConditions(db, 'usage_hourly', filter)) {
    query = query.where(condition);
  }
  return query;
}

function nameOf(by: Grouping): RawBuilder<string | number> {
  if (by === 'hour') return sql`hour`;
  if (by === 'day') return sql`hour - hour % ${sql.lit(dayMs)}`;
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

function timeOf(unixMs: number, by: Grouping): string {
  const text = new Date(unixMs).toISOString();
  return by === 'hour' ? `${text.slice(0, 16)}Z` : text.slice(0, 10);
}
