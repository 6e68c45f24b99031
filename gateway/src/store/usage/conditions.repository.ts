import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely';
import type { Database } from '#database/schema.ts';
import { sessionKeyName } from '#database/expressions.ts';

/** Filters that hold for single requests and for the sums that know what they name; all must hold. */
export interface NameFilters {
  /** Name or id of a key. */
  readonly key?: string;
  /** The id of a key. */
  readonly keyId?: string;
  /** E-mail address or id of a user. */
  readonly user?: string;
  /** Name or id of a team. */
  readonly team?: string;
  /** The model as clients wrote it. */
  readonly model?: string;
  /** Name of the channel that responded. */
  readonly channel?: string;
  /** The family of clients. */
  readonly client?: string;
  /** How names begin. */
  readonly beginnings?: Partial<
    Record<'key' | 'user' | 'team' | 'model' | 'channel' | 'client', string>
  >;
  /** The id of a user: nobody else's requests. Holds beside `user`. */
  readonly userId?: string;
  /** With `userId`: or requests of these teams, by their ids. */
  readonly teamIds?: readonly string[];
}

/** Whether these filters need sums that know persons: keys, users and teams. */
export function namesPersons({
  key,
  keyId,
  user,
  userId,
  team,
  beginnings = {},
}: NameFilters): boolean {
  return (
    [key, keyId, user, userId, team].some((name) => name !== undefined) ||
    [beginnings.key, beginnings.user, beginnings.team].some((name) => name !== undefined)
  );
}

/** Whether these filters need sums that know clients. */
export function namesClients({ client, beginnings = {} }: NameFilters): boolean {
  return client !== undefined || beginnings.client !== undefined;
}

type Condition = RawBuilder<SqlBool>;
type Place = RawBuilder<unknown>;

const named = [
  ['keys', 'key_id', 'key'],
  ['users', 'user_id', 'user'],
  ['teams', 'team_id', 'team'],
] as const;

/** The conditions of these filters. @param table with the columns of `usage`, by the name that the statement gives it */
export async function nameConditions(
  db: Kysely<Database>,
  table: string,
  filters: NameFilters,
): Promise<Condition[]> {
  const { keyId, userId, teamIds = [], beginnings = {} } = filters;
  const conditions: Condition[] = [];
  const place = (column: string) => sql.ref(`${table}.${column}`);
  if (userId !== undefined) {
    const own = isText(place('user_id'), userId);
    const ofTeams = sql`${place('team_id')} in (${sql.join(teamIds)})`;
    conditions.push(teamIds.length === 0 ? own : sql<SqlBool>`(${own} or ${ofTeams})`);
  }
  if (keyId !== undefined) conditions.push(isText(place('key_id'), keyId));
  for (const [source, column, name] of named) {
    const wantedName = filters[name];
    if (wantedName !== undefined) {
      const ids = await idsOf(db, source, wantedName);
      conditions.push(sql<SqlBool>`${place(column)} in (${sql.join(ids)})`);
    }
    const beginning = beginnings[name];
    if (beginning !== undefined) {
      const shownName = sql.ref(source === 'users' ? 'users.email' : `${source}.name`);
      const text = source === 'users' ? beginning.toLowerCase() : beginning;
      const ids = sql`select id from ${sql.table(source)} where ${beginsWith(shownName, text)}`;
      conditions.push(sql<SqlBool>`${place(column)} in (${ids})`);
    }
  }
  for (const name of ['model', 'channel', 'client'] as const) {
    const wantedName = filters[name];
    if (wantedName !== undefined) conditions.push(isText(place(name), wantedName));
    const beginning = beginnings[name];
    if (beginning !== undefined) conditions.push(beginsWith(place(name), beginning));
  }
  // An empty text means none in sums, and is not a name to filter by: single requests are not found by it either.
  const isNone = [filters.team, filters.model, filters.channel].includes('');
  if (isNone) conditions.push(sql<SqlBool>`1 = 0`);
  return conditions;
}

function isText(place: Place, text: string): Condition {
  return sql<SqlBool>`${place} = ${text}`;
}

/** A range of texts would depend on how the database orders them, and a pattern on its signs. */
export function beginsWith(place: Place, text: string): Condition {
  // As databases count: a character beyond the first 65 536 is one.
  const length = sql.lit(Array.from(text).length);
  return sql<SqlBool>`(${place} <> '' and substr(${place}, 1, ${length}) = ${text})`;
}

/**
 * The ids for a name. A row may outlive the object it names; the id still finds it. There are several only if the name
 * of one is the id of another: rows of one id come in the order of an index, rows of several must be sorted.
 */
async function idsOf(
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

/** The teams whose requests somebody may see: those that they own. */
export async function ownedTeams(db: Kysely<Database>, userId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('team_members')
    .select('team_id')
    .where('user_id', '=', userId)
    .where('role', '=', 'owner')
    .execute();
  return rows.map(({ team_id }) => team_id);
}
