import type { Kysely } from 'kysely';
import type { RequestedAdminKey } from '#config/index.ts';
import type { Change } from '#database/change.ts';
import { createId } from '#database/rows.ts';
import type { Database } from '#database/schema.ts';
import { createAdminKeySecret, displayPrefix } from './key-secret.ts';

/** An admin key, without its secret or hash. */
export interface StoredAdminKey extends Omit<RequestedAdminKey, 'expiresAt' | 'role'> {
  readonly id: string;
  readonly role: string;
  /** `sa-AbCd…wxyz`. */
  readonly prefix: string;
  /** Who made it; null: a command did. */
  readonly maker: {
    readonly id: string;
    readonly email: string;
    /** Whether the maker could make it today. */
    readonly isAdministrator: boolean;
  } | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
  /** To within a minute; null: never. */
  readonly lastUsedAt: number | null;
  /** Where it was last used; null: never, or unknown. */
  readonly lastUsedAddress: string | null;
  /** Null: not revoked. */
  readonly revokedAt: number | null;
}

export interface AdminKeyFilter {
  readonly limit?: number;
  /** Only keys made before this one, for the next page. */
  readonly before?: Pick<StoredAdminKey, 'createdAt' | 'id'>;
}

/** `last_used_at` is written at most this often. Milliseconds. */
const touchInterval = 60_000;

/** Stores a key with a new secret, which is returned only this once. */
export async function createAdminKey(
  { trx, secrets, now }: Change,
  { name, role, ips, expiresAt }: RequestedAdminKey & { readonly expiresAt: number },
  madeBy: string | null,
): Promise<{ readonly id: string; readonly secret: string }> {
  const secret = createAdminKeySecret();
  const id = createId('adm');
  await trx
    .insertInto('admin_keys')
    .values({
      id,
      name,
      hash: secrets.hashKey(secret),
      prefix: displayPrefix(secret),
      role,
      ips: JSON.stringify(ips),
      created_by: madeBy,
      created_at: now,
      expires_at: expiresAt,
    })
    .execute();
  return { id, secret };
}

/** Revokes a key that is not revoked yet. */
export async function revokeAdminKey({ trx, now }: Change, id: string): Promise<void> {
  await trx
    .updateTable('admin_keys')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .execute();
}

/** The latest first; without a filter all of them. */
export async function listAdminKeys(
  db: Kysely<Database>,
  { limit, before }: AdminKeyFilter = {},
): Promise<StoredAdminKey[]> {
  let query = adminKeys(db)
    .orderBy('admin_keys.created_at', 'desc')
    .orderBy('admin_keys.id', 'desc');
  if (before !== undefined) {
    const { createdAt, id } = before;
    query = query.where(({ eb, or, and }) =>
      or([
        eb('admin_keys.created_at', '<', createdAt),
        and([eb('admin_keys.created_at', '=', createdAt), eb('admin_keys.id', '<', id)]),
      ]),
    );
  }
  if (limit !== undefined) query = query.limit(limit);
  return (await query.execute()).map(toAdminKey);
}

/** The key with this id. Null: there is none. */
export async function findAdminKey(
  db: Kysely<Database>,
  id: string,
): Promise<StoredAdminKey | null> {
  const row = await adminKeys(db).where('admin_keys.id', '=', id).executeTakeFirst();
  return row === undefined ? null : toAdminKey(row);
}

/** The key of this name that is neither revoked nor expired. Null: there is none. */
export async function findLiveAdminKey(
  db: Kysely<Database>,
  name: string,
  now: number,
): Promise<StoredAdminKey | null> {
  const row = await live(db, now).where('admin_keys.name', '=', name).executeTakeFirst();
  return row === undefined ? null : toAdminKey(row);
}

/** The key with the secret of this hash, unless it is revoked or has expired. Null: there is none. */
export async function findUsableAdminKey(
  db: Kysely<Database>,
  hash: string,
  now: number,
): Promise<StoredAdminKey | null> {
  const row = await live(db, now).where('admin_keys.hash', '=', hash).executeTakeFirst();
  return row === undefined ? null : toAdminKey(row);
}

/** Notes a use, unless one was noted in the last minute. */
export async function touchAdminKey(
  db: Kysely<Database>,
  { id, lastUsedAt }: StoredAdminKey,
  address: string | null,
  now: number,
): Promise<void> {
  const latest = now - touchInterval;
  if (lastUsedAt !== null && lastUsedAt > latest) return;
  await db
    .updateTable('admin_keys')
    .set({ last_used_at: now, last_used_address: address })
    .where('id', '=', id)
    .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<=', latest)]))
    .execute();
}

const live = (db: Kysely<Database>, now: number) =>
  adminKeys(db).where('admin_keys.revoked_at', 'is', null).where('admin_keys.expires_at', '>', now);

const adminKeys = (db: Kysely<Database>) =>
  db
    .selectFrom('admin_keys')
    .leftJoin('users', 'users.id', 'admin_keys.created_by')
    .select([
      'admin_keys.id',
      'admin_keys.name',
      'admin_keys.prefix',
      'admin_keys.role',
      'admin_keys.ips',
      'admin_keys.created_by',
      'admin_keys.created_at',
      'admin_keys.expires_at',
      'admin_keys.last_used_at',
      'admin_keys.last_used_address',
      'admin_keys.revoked_at',
      'users.email',
      'users.role as maker_role',
      'users.enabled as maker_enabled',
    ]);

type Row = Awaited<ReturnType<ReturnType<typeof adminKeys>['executeTakeFirstOrThrow']>>;

function toAdminKey(row: Row): StoredAdminKey {
  const { created_by: makerId, email, maker_role: makerRole, maker_enabled: isEnabled } = row;
  return {
    id: row.id,
    name: row.name,
    prefix: row.prefix,
    role: row.role,
    ips: JSON.parse(row.ips) as string[],
    maker:
      makerId === null || email === null
        ? null
        : { id: makerId, email, isAdministrator: makerRole === 'admin' && isEnabled === 1 },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    lastUsedAddress: row.last_used_address,
    revokedAt: row.revoked_at,
  };
}
