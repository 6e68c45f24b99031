import { sql, type Kysely, type RawBuilder } from 'kysely';
import type { Database } from '#database/schema.ts';
import { sessionKeyName } from '#database/expressions.ts';
import { areDaysWhole, cut, startOfHour, type Bucket } from './time-cuts.ts';
import { isTime, rowsOf, sumsBy, timePlace } from './usage-groups.repository.ts';
import type { NameFilters } from './conditions.repository.ts';
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
/** An hour beyond all dates. */
const endOfTime = 3_000_000_000 * hourMs;

/**
 * The sums of a range, exact at both ends for as long as the single requests there are kept. Times are in order,
 * everything else by cost, highest first; with two dimensions, what belongs to one name of the first stays together.
 * @param by one or two dimensions
 * @param timeZone an IANA name: days and months are those of this zone
 * @throws RangeError for days or months that begin in the middle of an hour of UTC
 */
export async function sumUsage(
  db: Kysely<Database>,
  { from = 0, to = endOfTime, ...filter }: SumFilter,
  by: readonly Grouping[],
  timeZone = 'UTC',
): Promise<UsageSum[]> {
  const source = await rowsOf(db, 'usage_hourly', { ...filter, from, to });
  const buckets: (readonly Bucket[])[] = [];
  for (const grouping of by) buckets.push(await cutFor(db, source, grouping, timeZone));
  const rows = await sumsBy(
    db,
    source,
    by.map((grouping, at) => nameOf(grouping, buckets[at] ?? [])),
  );
  const shownNames: ReadonlyMap<string, string>[] = [];
  for (const grouping of by) shownNames.push(await namesOf(db, grouping));
  const sums = rows.map(
    ({
      names,
      input_tokens: input,
      cache_read_tokens: cache_read,
      cache_write_tokens: cache_write,
      cache_write_1h_tokens: cache_write_1h,
      output_tokens: output,
      reasoning_tokens: reasoning,
      ...sum
    }): UsageSum => ({
      ...sum,
      tokens: { input, cache_read, cache_write, cache_write_1h, output, reasoning },
      names: by.map((grouping, at) =>
        isTime(grouping)
          ? timeOf(Number(names[at]), grouping, buckets[at] ?? [])
          : (shownNames[at]?.get(String(names[at])) ?? named(String(names[at]), grouping)),
      ),
    }),
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

/** The days or months of all that is summed up; none for another dimension. */
async function cutFor(
  db: Kysely<Database>,
  source: RawBuilder<unknown>,
  by: Grouping,
  timeZone: string,
): Promise<readonly Bucket[]> {
  if (by !== 'day' && by !== 'month') return [];
  const { rows } = await sql<{ readonly first: number | null; readonly last: number | null }>`
    select min(hour) as first, max(hour) as last from ${source}`.execute(db);
  const { first = null, last = null } = rows[0] ?? {};
  if (first === null || last === null) return [];
  const [from, to] = [first, startOfHour(last) + hourMs];
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
  if (by === 'hour') return `${new Date(startOfHour(unixMs)).toISOString().slice(0, 16)}Z`;
  return buckets.findLast(({ from }) => from <= unixMs)?.name ?? '';
}
