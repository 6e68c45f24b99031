import { type Kysely, sql } from 'kysely';
import { type DeclaredKey, kinds, type NamesWith } from '#config/index.ts';
import { containing } from '#database/expressions.ts';
import { entryOf, type Stored } from '#database/rows.ts';
import type { Database, Owner } from '#database/schema.ts';

/** The settings of a key that only whoever set them, or somebody above, may loosen. */
export type LimitName = NamesWith<typeof kinds.key, { readonly limit: true }>;

/** From the one with the most to say. */
export const ranks = ['admin', 'owner', 'member'] as const;
/** Who sets a limit: an administrator, the owner of the key's team, or a person for keys of their own. */
export type Rank = (typeof ranks)[number];

/** Who set each limit. One that is not named here was set by the file, a command or an administrator, or is not set. */
export type LimitSetters = Readonly<Partial<Record<LimitName, Rank>>>;

/** A key for lists; never includes its secret or hash. */
export type StoredKey = Stored<Omit<DeclaredKey, 'secret'>> & {
  readonly id: string;
  readonly userId: string;
  readonly teamId: string | null;
  /** `sk-AbCd…wxyz`; empty while the key has no secret. */
  readonly prefix: string;
  readonly hasSecret: boolean;
  /** Who set the secret; null while there is none. */
  readonly secretOwner: Owner | null;
  /** Unix milliseconds; null: not revoked. */
  readonly revokedAt: number | null;
  /** Until when the secret before the last rotation is valid. Unix milliseconds; null: there is none. */
  readonly previousUntil: number | null;
  readonly limitsSetBy: LimitSetters;
  /** Grows with every change. */
  readonly revision: number;
};

/** Whose keys somebody has to do with: their own, and those of these teams. */
export interface Reach {
  readonly userId: string;
  readonly teamIds: readonly string[];
}

export interface KeyFilter {
  readonly id?: string;
  readonly within?: Reach;
  readonly owner?: Owner;
  /** E-mail address. */
  readonly user?: string;
  /** What the name contains, in capitals or not. */
  readonly search?: string;
  /** Only keys after this name, for the next page. */
  readonly after?: string;
  readonly limit?: number;
}

/** Keys by name. */
export async function listKeys(
  db: Kysely<Database>,
  { id, within, owner, user, search, after, limit }: KeyFilter = {},
): Promise<StoredKey[]> {
  let query = keys(db).orderBy('keys.name');
  if (id !== undefined) query = query.where('keys.id', '=', id);
  if (within !== undefined) {
    const { userId, teamIds } = within;
    query = query.where(({ eb, or }) =>
      or([
        eb('keys.user_id', '=', userId),
        ...(teamIds.length > 0 ? [eb('keys.team_id', 'in', teamIds)] : []),
      ]),
    );
  }
  if (owner !== undefined) query = query.where('keys.owner', '=', owner);
  if (user !== undefined) query = query.where('users.email', '=', user.trim().toLowerCase());
  if (search !== undefined) query = query.where(containing(sql.ref('keys.name'), search));
  if (after !== undefined) query = query.where('keys.name', '>', after);
  if (limit !== undefined) query = query.limit(limit);
  return (await query.execute()).map(toKey);
}

/** Usable keys that end within a time, the first ones first. @param filter whose, and between when */
export async function keysThatEnd(
  db: Kysely<Database>,
  filter: {
    readonly userId?: string | undefined;
    readonly after: number;
    readonly before: number;
    readonly limit: number;
  },
): Promise<readonly { readonly name: string; readonly endsAt: number }[]> {
  let query = db
    .selectFrom('keys')
    .select(['name', 'expires_at'])
    .where('expires_at', '>', filter.after)
    .where('expires_at', '<', filter.before)
    .where('revoked_at', 'is', null)
    .where('enabled', '=', 1)
    // Those of sessions end by themselves, and nobody waits for them.
    .where('session_id', 'is', null);
  if (filter.userId !== undefined) query = query.where('user_id', '=', filter.userId);
  const rows = await query.orderBy('expires_at').limit(filter.limit).execute();
  return rows.map(({ name, expires_at }) => ({ name, endsAt: expires_at ?? filter.before }));
}

/** Usable keys that have spent their quota, by name. @param filter whose. Nano-USD. */
export async function keysSpent(
  db: Kysely<Database>,
  filter: { readonly userId?: string | undefined; readonly limit: number },
): Promise<readonly { readonly name: string; readonly quota: bigint; readonly spent: bigint }[]> {
  let query = db
    .selectFrom('keys')
    .innerJoin('spent_totals', (join) =>
      join.on('spent_totals.meter', '=', sql<string>`'key:' || keys.id || ':quota'`),
    )
    .select(['keys.name', 'keys.quota', 'spent_totals.spent'])
    .whereRef('spent_totals.spent', '>=', 'keys.quota')
    .where('keys.revoked_at', 'is', null)
    .where('keys.enabled', '=', 1)
    .where('keys.session_id', 'is', null);
  if (filter.userId !== undefined) query = query.where('keys.user_id', '=', filter.userId);
  const rows = await query.orderBy('keys.name').limit(filter.limit).execute();
  return rows.map(({ name, quota, spent }) => ({ name, quota: quota ?? 0n, spent }));
}

/** How many keys of each of these people or teams can be used; who has none is absent. */
export async function countUsableKeys(
  db: Kysely<Database>,
  holder: 'user_id' | 'team_id',
  ids: readonly string[],
  now: number,
): Promise<ReadonlyMap<string | null, number>> {
  if (ids.length === 0) return new Map();
  const rows = await usableKeys(db, now)
    .select((of) => [`${holder} as id`, of.fn.countAll<number>().as('count')])
    .where(holder, 'in', ids)
    .groupBy(holder)
    .execute();
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** How many keys of a group can be used, and of how many people they are. */
interface GroupUse {
  readonly keys: number;
  readonly people: number;
}

/** By the name of the group; one without usable keys is absent. */
export async function countGroupKeys(
  db: Kysely<Database>,
  now: number,
): Promise<ReadonlyMap<string, GroupUse>> {
  const rows = await usableKeys(db, now)
    .select((of) => [
      'group_name',
      of.fn.countAll<number>().as('keys'),
      of.fn.count<number>('user_id').distinct().as('people'),
    ])
    .groupBy('group_name')
    .execute();
  return new Map(rows.map(({ group_name: name, keys, people }) => [name, { keys, people }]));
}

const usableKeys = (db: Kysely<Database>, now: number) =>
  db
    .selectFrom('keys')
    .where('enabled', '=', 1)
    .where('hash', 'is not', null)
    .where('revoked_at', 'is', null)
    .where('session_id', 'is', null)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]));

/** By name, otherwise by id. */
export async function findKey(db: Kysely<Database>, nameOrId: string): Promise<StoredKey | null> {
  const byName = await keys(db).where('keys.name', '=', nameOrId).executeTakeFirst();
  const row = byName ?? (await keys(db).where('keys.id', '=', nameOrId).executeTakeFirst());
  return row === undefined ? null : toKey(row);
}

/** Without those that belong to a session: nobody manages them. */
function keys(db: Kysely<Database>) {
  return db
    .selectFrom('keys')
    .where('keys.session_id', 'is', null)
    .innerJoin('users', 'users.id', 'keys.user_id')
    .leftJoin('teams', 'teams.id', 'keys.team_id')
    .selectAll('keys')
    .select(['users.email as user_email', 'teams.name as team_name']);
}

type Row = Awaited<ReturnType<ReturnType<typeof keys>['executeTakeFirstOrThrow']>>;

function toKey(row: Row): StoredKey {
  return {
    id: row.id,
    ...entryOf(kinds.key, row),
    user: row.user_email,
    userId: row.user_id,
    team: row.team_name,
    teamId: row.team_id,
    prefix: row.prefix,
    hasSecret: row.hash !== null,
    secretOwner: row.secret_owner,
    revokedAt: row.revoked_at,
    previousUntil: row.previous_until,
    limitsSetBy: row.limits_set_by === null ? {} : (JSON.parse(row.limits_set_by) as LimitSetters),
    revision: row.revision,
  };
}
