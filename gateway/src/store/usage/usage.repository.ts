import {
  sql,
  type ExpressionBuilder,
  type Kysely,
  type SelectQueryBuilder,
  type SqlBool,
} from 'kysely';
import type { Database } from '#database/schema.ts';
import { shownKeyName } from '#database/expressions.ts';
import { nameConditions, type NameFilters } from './conditions.repository.ts';
import { usageColumns } from './record-line.ts';
import { toUsageDetail, toUsageEntry, type UsageDetail, type UsageEntry } from './usage-entry.ts';

/** Filters for exchanges; all conditions must hold, and text is compared literally. */
export interface UsageFilter extends NameFilters {
  /** Unix milliseconds, inclusive. */
  readonly from?: number;
  /** Unix milliseconds, exclusive. */
  readonly to?: number;
  readonly operation?: string;
  /** Whether the upstream's usage has a counter that nothing reads. */
  readonly hasUnread?: boolean;
  /** The name of a channel that was asked, whether or not it responded. */
  readonly tried?: string;
  /** The word of what went wrong: the client's error, or that of an attempt. */
  readonly error?: string;
  readonly protocol?: string;
  readonly outcome?: string;
  /** The lowest and the highest status. */
  readonly statuses?: readonly [number, number];
  /** Default 100, at most 1 000. */
  readonly limit?: number;
  /** `next` of the previous page. */
  readonly cursor?: string;
}

export interface UsagePage {
  readonly data: readonly UsageEntry[];
  /** For the following page; null on the last. Rows added meanwhile move nothing. */
  readonly next: string | null;
}

type Matching = SelectQueryBuilder<Database, 'usage', object>;

const defaultLimit = 100;
const maxLimit = 1_000;

/**
 * Lists exchanges, newest first.
 * @param detail `line`: without the texts that no line of CSV shows, which are most of a row
 * @throws RangeError for an invalid cursor or limit
 */
export async function listUsage(
  db: Kysely<Database>,
  filter: UsageFilter = {},
  detail: 'line' | 'entry' = 'entry',
): Promise<UsagePage> {
  const limit = filter.limit ?? defaultLimit;
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw new RangeError(`limit: expected 1 to ${maxLimit}, got ${limit}`);
  }
  const found = await matching(db, filter);
  const query = (detail === 'line' ? linesOf(found) : withNames(found))
    .orderBy('usage.time', 'desc')
    .orderBy('usage.id', 'desc')
    // One more than requested shows whether there is a next page.
    .limit(limit + 1);
  const { cursor } = filter;
  const rows = await (
    cursor === undefined ? query : query.where(isBefore(parseCursor(cursor)))
  ).execute();
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { data: page.map(toUsageEntry), next: more ? formatCursor(last) : null };
}

/**
 * One exchange.
 * @param filter whose it must be
 */
export async function findUsage(
  db: Kysely<Database>,
  id: string,
  filter: Pick<NameFilters, 'userId' | 'teamIds'> = {},
): Promise<UsageDetail | null> {
  let query = withNames(db.selectFrom('usage')).where('usage.id', '=', id);
  for (const condition of await nameConditions(db, 'usage', filter)) query = query.where(condition);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : toUsageDetail(row);
}

const withNames = (query: Matching) => joined(query).selectAll('usage');

/** What no line shows. */
const unseen = { receipt: null, rewrites: '[]', losses: '[]', late: null } as const;
const seen = usageColumns.map(({ name }) => name).filter((name) => !Object.hasOwn(unseen, name));

/** The same row, but for what no line shows. */
const linesOf = (query: Matching) =>
  joined(query)
    .select(seen.map((name) => sql.ref(`usage.${name}`).as(name)))
    .select(
      Object.entries(unseen).map(([name, text]) => sql.lit(text).as(name)),
    ) as unknown as ReturnType<typeof withNames>;

function joined(query: Matching) {
  return query
    .leftJoin('keys', 'keys.id', 'usage.key_id')
    .leftJoin('users', 'users.id', 'usage.user_id')
    .leftJoin('teams', 'teams.id', 'usage.team_id')
    .select(['users.email as user_email', 'teams.name as team_name'])
    .select(shownKeyName.as('key_name'));
}

/**
 * The number of matching exchanges, counting each that shares a row, and their total cost; ignores `limit` and
 * `cursor`.
 */
export async function totalUsage(
  db: Kysely<Database>,
  filter: UsageFilter,
): Promise<{ readonly requests: number; readonly cost: bigint }> {
  const query = await matching(db, filter);
  const row = await query
    .select(({ fn }) => [
      fn.coalesce(fn.sum<number>('usage.count'), sql<number>`0`).as('requests'),
      fn.coalesce(fn.sum<bigint>('usage.cost'), sql<bigint>`0`).as('cost'),
    ])
    .executeTakeFirstOrThrow();
  return row;
}

/** The rows that a filter leaves, but for its `limit` and `cursor`. */
export async function matching(db: Kysely<Database>, filter: UsageFilter) {
  const { from, to, protocol, operation, outcome, statuses } = filter;
  const { hasUnread, tried, error } = filter;
  let query = db.selectFrom('usage');
  if (from !== undefined) query = query.where('usage.time', '>=', from);
  if (to !== undefined) query = query.where('usage.time', '<', to);
  // Ids are looked up first: comparing the joined names would read every row of the time range.
  for (const condition of await nameConditions(db, 'usage', filter)) query = query.where(condition);
  if (protocol !== undefined) query = query.where('usage.protocol', '=', protocol);
  if (operation !== undefined) query = query.where('usage.operation', '=', operation);
  if (outcome !== undefined) query = query.where('usage.outcome', '=', outcome);
  if (statuses !== undefined) {
    const [lowest, highest] = statuses;
    query = query.where('usage.status', '>=', lowest).where('usage.status', '<=', highest);
  }
  // For the index of these few rows, whose condition a database finds only in these words. Success always has 200.
  const isUnsuccessful =
    outcome === undefined ? (statuses?.[0] ?? 0) > 200 : outcome !== 'completed';
  if (isUnsuccessful) query = query.where('usage.outcome', '<>', sql.lit('completed'));
  if (hasUnread !== undefined) {
    query = query.where('usage.usage_unread', hasUnread ? 'is not' : 'is', null);
  }
  if (tried !== undefined) query = query.where(wasTried(tried, filter));
  if (error !== undefined) query = query.where(hadError(error, filter));
  return query;
}

type Range = Pick<UsageFilter, 'from' | 'to'>;

/** An attempt that failed is no older than its request. */
const since = ({ from }: Range) => (from === undefined ? sql`` : sql`and time >= ${from}`);

function wasTried(channel: string, range: Range) {
  return sql<SqlBool>`(usage.channel = ${channel} or usage.id in (
    select id from usage_errors where channel = ${channel} ${since(range)}))`;
}

/** The errors of requests are looked for among the few that did not succeed, which an index finds. */
function hadError(error: string, range: Range) {
  const until = range.to === undefined ? sql`` : sql`and time < ${range.to}`;
  return sql<SqlBool>`usage.id in (
    select id from usage_errors where error = ${error} ${since(range)} union all
    select id from usage as other
    where outcome <> ${sql.lit('completed')} and error = ${error} ${since(range)} ${until})`;
}

interface Position {
  readonly time: number;
  readonly id: string;
}

function isBefore({ time, id }: Position) {
  return (where: ExpressionBuilder<Database, 'usage'>) =>
    where.and([
      // Redundant, but in a form that an index on time serves.
      where('usage.time', '<=', time),
      where.or([where('usage.time', '<', time), where('usage.id', '<', id)]),
    ]);
}

function formatCursor({ time, id }: Position): string {
  return Buffer.from(`${time} ${id}`).toString('base64url');
}

function parseCursor(text: string): Position {
  const match = /^(\d{1,15}) ([\x21-\x7e]{1,100})$/.exec(Buffer.from(text, 'base64url').toString());
  if (match === null) throw new RangeError('cursor: expected the `next` of an earlier page');
  return { time: Number(match[1]), id: match[2] ?? '' };
}
