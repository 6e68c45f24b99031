import { sql, type ExpressionBuilder, type Kysely, type SelectQueryBuilder } from 'kysely';
import type { Database } from '#database/schema.ts';
import { sessionKeyName, shownKeyName } from '#database/session-keys.ts';
import { toUsageDetail, toUsageEntry, type UsageDetail, type UsageEntry } from './usage-entry.ts';

/** Filters for exchanges; all conditions must hold, and text is compared literally. */
export interface UsageFilter {
  /** Unix milliseconds, inclusive. */
  readonly from?: number;
  /** Unix milliseconds, exclusive. */
  readonly to?: number;
  /** Name or id of a key. */
  readonly key?: string;
  /** E-mail address or id of a user. */
  readonly user?: string;
  /** Name or id of a team. */
  readonly team?: string;
  /** The model as clients wrote it. */
  readonly model?: string;
  /** Name of the channel that responded. */
  readonly channel?: string;
  /** The id of a user: nobody else's requests. Holds beside `user`. */
  readonly userId?: string;
  readonly protocol?: string;
  readonly outcome?: string;
  /** The lowest and the highest status. */
  readonly statuses?: readonly [number, number];
  /** Nano-USD; leaves out requests that were not charged. */
  readonly minCost?: bigint;
  /** Milliseconds. */
  readonly minDuration?: number;
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

const defaultLimit = 100;
const maxLimit = 1_000;

/** Lists exchanges, newest first. @throws RangeError for an invalid cursor or limit. */
export async function listUsage(
  db: Kysely<Database>,
  filter: UsageFilter = {},
): Promise<UsagePage> {
  const limit = filter.limit ?? defaultLimit;
  if (!Number.isInteger(limit) || limit < 1 || limit > maxLimit) {
    throw new RangeError(`limit: expected 1 to ${maxLimit}, got ${limit}`);
  }
  const query = withNames(await matching(db, filter))
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
 * @param userId only if it is this user's; absent: anybody's
 */
export async function findUsage(
  db: Kysely<Database>,
  id: string,
  userId?: string,
): Promise<UsageDetail | null> {
  let query = withNames(db.selectFrom('usage')).where('usage.id', '=', id);
  if (userId !== undefined) query = query.where('usage.user_id', '=', userId);
  const row = await query.executeTakeFirst();
  return row === undefined ? null : toUsageDetail(row);
}

function withNames(query: SelectQueryBuilder<Database, 'usage', object>) {
  return query
    .leftJoin('keys', 'keys.id', 'usage.key_id')
    .leftJoin('users', 'users.id', 'usage.user_id')
    .leftJoin('teams', 'teams.id', 'usage.team_id')
    .selectAll('usage')
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

async function matching(db: Kysely<Database>, filter: UsageFilter) {
  const { from, to, key, user, team, model, channel, userId } = filter;
  const { protocol, outcome, statuses, minCost, minDuration } = filter;
  let query = db.selectFrom('usage');
  if (userId !== undefined) query = query.where('usage.user_id', '=', userId);
  if (from !== undefined) query = query.where('usage.time', '>=', from);
  if (to !== undefined) query = query.where('usage.time', '<', to);
  // Ids are looked up first: comparing the joined names would read every row of the time range.
  if (key !== undefined) query = query.where('usage.key_id', 'in', await idsOf(db, 'keys', key));
  if (user !== undefined)
    query = query.where('usage.user_id', 'in', await idsOf(db, 'users', user));
  if (team !== undefined)
    query = query.where('usage.team_id', 'in', await idsOf(db, 'teams', team));
  if (model !== undefined) query = query.where('usage.model', '=', model);
  if (channel !== undefined) query = query.where('usage.channel', '=', channel);
  if (protocol !== undefined) query = query.where('usage.protocol', '=', protocol);
  if (outcome !== undefined) query = query.where('usage.outcome', '=', outcome);
  if (statuses !== undefined) {
    const [lowest, highest] = statuses;
    query = query.where('usage.status', '>=', lowest).where('usage.status', '<=', highest);
  }
  if (minCost !== undefined) query = query.where('usage.cost', '>=', minCost);
  if (minDuration !== undefined) query = query.where('usage.duration_ms', '>=', minDuration);
  return query;
}

/**
 * The ids for a name. A row may outlive the object it names; the id still finds it. There are several only if the name
 * of one is the id of another: rows of one id come in the order of an index, rows of several must be sorted.
 */
export async function idsOf(
  db: Kysely<Database>,
  table: 'keys' | 'users' | 'teams',
  nameOrId: string,
): Promise<string[]> {
  const column = table === 'users' ? 'email' : 'name';
  const name = table === 'users' ? nameOrId.trim().toLowerCase() : nameOrId;
  const rows = await db
    .selectFrom(table)
    .select('id')
    .where((where) => where.or([where(column, '=', name), where('id', '=', nameOrId)]))
    .$if(table === 'keys' && name === sessionKeyName, (query) =>
      query.union(db.selectFrom('keys').select('id').where('session_id', 'is not', null)),
    )
    .execute();
  return rows.length === 0 ? [nameOrId] : rows.map((row) => row.id);
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
