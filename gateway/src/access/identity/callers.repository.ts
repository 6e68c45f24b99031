import { sql, type Kysely } from 'kysely';
import { kinds } from '#config/index.ts';
import { settingsOf } from '#database/rows.ts';
import type { Database } from '#database/schema.ts';
import { shownKeyName } from '#database/expressions.ts';
import type { Caller } from './caller.ts';
import { createHolders, type Holders } from './holders.repository.ts';

/** A key as the directory stores it. */
export interface CallerEntry {
  /** Null while the key has no secret. */
  readonly hash: string | null;
  readonly caller: Caller;
  /** The secret before the last rotation, for the same caller; it expires with the grace period at the latest. */
  readonly previous: { readonly hash: string; readonly caller: Caller } | null;
}

const pageSize = 5_000;

/** Every key, in pages: the first load of many keys must not block the thread in one go. */
export async function* allCallers(db: Kysely<Database>): AsyncGenerator<CallerEntry[]> {
  const toEntries = createMapper(db);
  let after = '';
  for (;;) {
    // The page is selected before the joins; otherwise PostgreSQL joins and sorts all keys for each page.
    const rows = await keyRows(db)
      .where('keys.id', 'in', (from) =>
        from.selectFrom('keys').select('id').where('id', '>', after).orderBy('id').limit(pageSize),
      )
      .orderBy('keys.id')
      .execute();
    if (rows.length > 0) yield await toEntries(rows);
    if (rows.length < pageSize) return;
    after = rows.at(-1)?.id ?? '';
  }
}

/**
 * The keys that changed, or whose user or team changed, after this revision. In pages, because a team may have very
 * many keys. The ids are selected first: selecting page by page would walk through all keys each time.
 */
export async function* callersSince(
  db: Kysely<Database>,
  revision: number,
): AsyncGenerator<CallerEntry[]> {
  const changedKeys = await db
    .selectFrom('keys')
    .select('id')
    .where((where) =>
      where.or([
        where('revision', '>', revision),
        where('user_id', 'in', (from) =>
          from.selectFrom('users').select('id').where('revision', '>', revision),
        ),
        where('team_id', 'in', (from) =>
          from.selectFrom('teams').select('id').where('revision', '>', revision),
        ),
      ]),
    )
    .execute();
  const ids = changedKeys.map(({ id }) => id);
  const toEntries = createMapper(db);
  for (let at = 0; at < ids.length; at += pageSize) {
    const page = ids.slice(at, at + pageSize);
    yield await toEntries(await keyRows(db).where('keys.id', 'in', page).execute());
  }
}

/** The keys with these hashes, current or previous. */
export async function callersByHash(
  db: Kysely<Database>,
  hashes: readonly string[],
): Promise<CallerEntry[]> {
  const rows = await keyRows(db)
    .where((where) =>
      where.or([where('keys.hash', 'in', hashes), where('keys.previous_hash', 'in', hashes)]),
    )
    .execute();
  return createMapper(db)(rows);
}

function keyRows(db: Kysely<Database>) {
  return db
    .selectFrom('keys')
    .innerJoin('users', 'users.id', 'keys.user_id')
    .leftJoin('teams', 'teams.id', 'keys.team_id')
    .select([
      'keys.id',
      'keys.hash',
      'keys.user_id',
      'keys.team_id',
      'keys.group_name',
      'keys.settings',
      'keys.quota',
      'keys.expires_at',
      'keys.rpm',
      'keys.rph',
      'keys.max_concurrency',
      'keys.revoked_at',
      'keys.previous_hash',
      'keys.previous_until',
    ])
    .select(shownKeyName.as('name'))
    .select(
      sql<number>`keys.enabled * users.enabled * coalesce(teams.enabled, 1)`.as('all_enabled'),
    );
}

type Row = Awaited<ReturnType<ReturnType<typeof keyRows>['execute']>>[number];
type Settings = Pick<Caller, 'models' | 'ips' | 'conversion' | 'capOutput'>;

/**
 * Most keys share a few settings and groups, and many share a user or a team: equal values become one object or string
 * in memory.
 */
function createMapper(db: Kysely<Database>): (rows: readonly Row[]) => Promise<CallerEntry[]> {
  const holders = createHolders(db);
  const toEntry = createEntryMapper(holders);
  return async (rows) => {
    await holders.load(rows);
    return rows.map(toEntry);
  };
}

function createEntryMapper(holders: Holders): (row: Row) => CallerEntry {
  const settings = new Map<string, Settings>();
  const strings = new Map<string, string>();
  const settingsIn = (text: string) => sharedValue(settings, text, parseSettings);
  const same = (text: string) => sharedValue(strings, text, (value) => value);

  return (row) => {
    const { models, ips, conversion, capOutput } = settingsIn(row.settings);
    const user = holders.user(row.user_id);
    const team = row.team_id === null ? null : holders.team(row.team_id);
    const caller: Caller = Object.freeze({
      keyId: row.id,
      keyName: row.name ?? row.id,
      userId: user.id,
      teamId: team === null ? null : team.id,
      user,
      team,
      memberBudget: team === null ? null : holders.memberBudget(team.id, user.id),
      group: same(row.group_name),
      models,
      ips,
      expiresAt: row.expires_at,
      quota: row.quota,
      rpm: row.rpm,
      rph: row.rph,
      maxConcurrency: row.max_concurrency,
      conversion,
      capOutput,
      enabled:
        row.all_enabled === 1 &&
        row.revoked_at === null &&
        (team === null || holders.mayAct(team.id, user.id)),
    });
    return { hash: row.hash, caller, previous: previousOf(row, caller) };
  };
}

function previousOf(row: Row, caller: Caller): CallerEntry['previous'] {
  const { previous_hash: hash, previous_until: until } = row;
  if (hash === null || until === null) return null;
  const expiresAt = Math.min(until, caller.expiresAt ?? until);
  return { hash, caller: Object.freeze({ ...caller, expiresAt }) };
}

function sharedValue<Value>(
  valuesByText: Map<string, Value>,
  text: string,
  make: (text: string) => Value,
) {
  let value = valuesByText.get(text);
  if (value === undefined) {
    value = make(text);
    valuesByText.set(text, value);
  }
  return value;
}

function parseSettings(settings: string): Settings {
  const { models, ips, conversion, capOutput } = settingsOf(kinds.key, settings);
  return { models: models.length === 0 ? null : new Set(models), ips, conversion, capOutput };
}
