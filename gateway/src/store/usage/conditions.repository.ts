import { sql, type Kysely, type RawBuilder, type SqlBool } from 'kysely';
import type { Database } from '#database/schema.ts';
import { containing, sessionKeyName } from '#database/expressions.ts';
import type { Term } from './filter-line.ts';
import type { Test } from './filter-values.ts';
import { filterWords, nameWords, type FilterWord, type Word } from './filter-words.repository.ts';

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
  /** Words of a filter line, of which sums know only the names. */
  readonly terms?: readonly Term[];
  /** The id of a user: nobody else's requests. Holds beside `user`. */
  readonly userId?: string;
  /** The ids of users: only their requests. Holds beside all others. */
  readonly userIds?: readonly string[];
  /** With `userId`: or requests of these teams, by their ids. */
  readonly teamIds?: readonly string[];
}

/** The same within a time. */
export interface RangeFilters extends NameFilters {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number;
}

/** Whether these filters need sums that know persons: keys, users and teams. */
export function namesPersons({
  key,
  keyId,
  user,
  userId,
  userIds,
  team,
  beginnings = {},
  terms,
}: NameFilters): boolean {
  return (
    hasWord(terms, ['key', 'user', 'team']) ||
    [key, keyId, user, userId, userIds, team].some((name) => name !== undefined) ||
    [beginnings.key, beginnings.user, beginnings.team].some((name) => name !== undefined)
  );
}

/** Whether these filters need sums that know clients. */
export function namesClients({ client, beginnings = {}, terms }: NameFilters): boolean {
  return hasWord(terms, ['client']) || client !== undefined || beginnings.client !== undefined;
}

/** Whether one of these words is among the terms. */
export function hasWord(
  terms: readonly Term[] | undefined,
  words: readonly Term['word'][],
): boolean {
  return terms?.some(({ word }) => words.includes(word)) ?? false;
}

type Condition = RawBuilder<SqlBool>;
type Place = RawBuilder<unknown>;

/** The tables of words whose rows have ids. */
const sources: { readonly [word in FilterWord]?: 'keys' | 'users' | 'teams' } = {
  key: 'keys',
  user: 'users',
  team: 'teams',
};

/** The conditions of these filters. @param table with the columns of `usage`, by the name that the statement gives it */
export async function nameConditions(
  db: Kysely<Database>,
  table: string,
  filters: NameFilters,
): Promise<Condition[]> {
  const { keyId, userId, userIds, teamIds = [], beginnings = {} } = filters;
  const conditions: Condition[] = [];
  const place = (column: string) => sql.ref(`${table}.${column}`);
  if (userId !== undefined) {
    const own = isText(place('user_id'), userId);
    const ofTeams = sql`${place('team_id')} in (${sql.join(teamIds)})`;
    conditions.push(teamIds.length === 0 ? own : sql<SqlBool>`(${own} or ${ofTeams})`);
  }
  if (userIds !== undefined) {
    const ids = sql.join(userIds.length === 0 ? [''] : userIds);
    conditions.push(sql<SqlBool>`${place('user_id')} in (${ids})`);
  }
  if (keyId !== undefined) conditions.push(isText(place('key_id'), keyId));
  for (const name of nameWords) {
    const wantedName = filters[name];
    const beginning = beginnings[name];
    if (wantedName !== undefined) {
      conditions.push(await testCondition(db, table, name, { kind: 'is', text: wantedName }));
    }
    if (beginning !== undefined) {
      conditions.push(await testCondition(db, table, name, { kind: 'begins', text: beginning }));
    }
  }
  for (const term of filters.terms ?? []) conditions.push(await termCondition(db, table, term));
  // An empty text means none in sums, and is not a name to filter by: single requests are not found by it either.
  const isNone = [filters.team, filters.model, filters.channel].includes('');
  if (isNone) conditions.push(sql<SqlBool>`1 = 0`);
  return conditions;
}

/** Rows without a value have none of what an excluded word names. */
async function termCondition(
  db: Kysely<Database>,
  table: string,
  { word, isExcluded, tests }: Term,
): Promise<Condition> {
  const conditions: Condition[] = [];
  for (const test of tests) {
    if (word !== 'text') conditions.push(await testCondition(db, table, word, test));
    else if (test.kind === 'contains') {
      for (const name of searchedNames) {
        conditions.push(await testCondition(db, table, name, test));
      }
      for (const column of ['id', 'error']) {
        conditions.push(containing(sql.ref(`${table}.${column}`), test.text));
      }
    }
  }
  const anyOf = sql<SqlBool>`(${sql.join(conditions, sql` or `)})`;
  return isExcluded ? sql<SqlBool>`${anyOf} is not true` : anyOf;
}

const searchedNames = ['model', 'key', 'user', 'team', 'channel'] as const;

async function testCondition(
  db: Kysely<Database>,
  table: string,
  word: FilterWord,
  test: Test,
): Promise<Condition> {
  const place = filterWords[word].place(table);
  if (test.kind === 'within') {
    const { least, most } = test;
    const bounds = [
      ...(least === null ? [] : [sql`${place} >= ${least}`]),
      ...(most === null ? [] : [sql`${place} <= ${most}`]),
    ];
    return sql<SqlBool>`(${sql.join(bounds, sql` and `)})`;
  }
  const { kind } = test;
  const source = sources[word];
  if (source === undefined) {
    const { alsoIn }: Word = filterWords[word];
    if (alsoIn === undefined) return textCondition(place, test);
    const ofAttempts = textCondition(sql.ref(`usage_errors.${alsoIn}`), test);
    return sql<SqlBool>`(${textCondition(place, test)} or ${sql.ref(`${table}.id`)} in (
      select id from usage_errors where ${ofAttempts}))`;
  }
  if (kind === 'is') {
    return sql<SqlBool>`${place} in (${sql.join(await idsOf(db, source, test.text))})`;
  }
  const name = sql.ref<string>(source === 'users' ? 'users.email' : `${source}.name`);
  const text = source === 'users' ? test.text.toLowerCase() : test.text;
  const condition = kind === 'begins' ? beginsWith(name, text) : containing(name, text);
  return sql<SqlBool>`${place} in (select id from ${sql.table(source)} where ${condition})`;
}

function textCondition(place: Place, test: Exclude<Test, { readonly kind: 'within' }>): Condition {
  if (test.kind === 'is') return isText(place, test.text);
  return test.kind === 'begins'
    ? beginsWith(place, test.text)
    : containing(place as RawBuilder<string>, test.text);
}

/** The condition of rows of a table of sums: within the range, whose ends are whole hours or days, and of these names. */
export async function rangeConditions(
  db: Kysely<Database>,
  table: keyof Database & `${'usage' | 'latency'}_${string}`,
  filter: RangeFilters,
): Promise<Condition> {
  const time = sql.ref(`${table}.${table.endsWith('_daily') ? 'day' : 'hour'}`);
  const conditions = await nameConditions(db, table, filter);
  return sql<SqlBool>`${sql.join(
    [sql`${time} >= ${filter.from}`, sql`${time} < ${filter.to}`, ...conditions],
    sql` and `,
  )}`;
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
