import type { Transaction } from 'kysely';
import { type DeclaredKey, kinds } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import { columnsOf, createId, disableRow, updateRow, upsertRow } from '#database/rows.ts';
import type { Database, KeyTable, Owner } from '#database/schema.ts';
import { createKeySecret, displayPrefix } from './key-secret.ts';
import { findKey, type LimitSetters, type StoredKey } from './key-queries.repository.ts';

/** What a key is now forbids the change. The message is for the user. */
export class KeyConflict extends Error {
  readonly reason: 'taken' | 'state';

  constructor(reason: KeyConflict['reason'], message: string) {
    super(message);
    this.name = 'KeyConflict';
    this.reason = reason;
  }
}

/**
 * Creates or changes the key with this name. A declared secret is stored as its hash; without one, an existing secret
 * stays.
 * @throws OwnedElsewhere if the key has another owner; Error if its user or team does not exist, or another key has the
 * same secret.
 */
export async function upsertKey(change: Change, key: DeclaredKey): Promise<Upserted> {
  const { trx } = change;
  const { name, user, team } = key;
  const existing = await find(trx, name);
  const columns = {
    user_id: await idOf(trx, 'users', 'email', user.trim().toLowerCase(), name),
    team_id: team === null ? null : await idOf(trx, 'teams', 'name', team, name),
    ...columnsOf(kinds.key, key),
    ...(await secretColumns(change, key, existing)),
  };
  const newKey = { id: createId('key'), prefix: '' };
  return (await upsertRow(change, kinds.key, { name, columns, created: newKey })).outcome;
}

/**
 * Creates a key with a new secret, which is returned only this once. A key that is declared without a secret gets one
 * and keeps its declared settings.
 * @throws KeyConflict if a key with this name already has a secret.
 */
export async function createKey(
  change: Change,
  key: Omit<DeclaredKey, 'secret'>,
): Promise<{ readonly key: StoredKey; readonly secret: string }> {
  const existing = await find(change.trx, key.name);
  if (existing !== undefined && existing.hash !== null) {
    throw new KeyConflict('taken', `key '${key.name}' already exists`);
  }
  if (existing === undefined) await upsertKey(change, { ...key, secret: null });
  return issue(change, key.name);
}

/**
 * Replaces the secret and returns the new one, only this once. The old one stays valid for `grace` milliseconds; an
 * even older one stops working.
 * @throws KeyConflict if the key is revoked or has no secret; OwnedElsewhere if its secret is set in the configuration
 * file; Error if it does not exist.
 */
export async function rotateKey(
  change: Change,
  name: string,
  grace: number,
): Promise<{ readonly key: StoredKey; readonly secret: string }> {
  const existing = await find(change.trx, name);
  if (existing === undefined) throw new Error(`key '${name}' does not exist`);
  // Otherwise its old secret would become valid again.
  if (existing.revoked_at !== null) {
    throw new KeyConflict('state', `key '${name}' is revoked: create a new one`);
  }
  if (existing.hash === null) {
    throw new KeyConflict(
      'state',
      `key '${name}' has no secret yet: 'sluice key create' gives it one`,
    );
  }
  if (existing.secret_owner !== null) {
    assertMayChange(change, 'the secret of key', name, existing.secret_owner);
  }
  return issue(
    change,
    name,
    grace > 0 ? { previous_hash: existing.hash, previous_until: change.now + grace } : {},
  );
}

/** Notes who set the limits of a key. */
export async function noteLimitSetters(
  { trx }: Change,
  name: string,
  setters: LimitSetters,
): Promise<void> {
  const text = Object.keys(setters).length === 0 ? null : JSON.stringify(setters);
  await trx.updateTable('keys').set({ limits_set_by: text }).where('name', '=', name).execute();
}

/** How many keys a person has that are not revoked. */
export async function countKeys({ trx }: Change, userId: string): Promise<number> {
  const { count } = await trx
    .selectFrom('keys')
    .select((eb) => eb.fn.countAll<number | bigint>().as('count'))
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Revokes a key permanently, whoever owns it. False if it does not exist or is already revoked. */
export async function revokeKey(change: Change, name: string): Promise<boolean> {
  const existing = await find(change.trx, name);
  if (existing === undefined || existing.revoked_at !== null) return false;
  await updateRow(change, kinds.key, name, {
    revoked_at: change.now,
    previous_hash: null,
    previous_until: null,
  });
  return true;
}

export function renameKey(change: Change, name: string, newName: string): Promise<void> {
  return updateRow(change, kinds.key, name, { name: newName });
}

/** False if it does not exist or is already disabled. */
export const disableKey = async (change: Change, name: string): Promise<boolean> =>
  (await disableRow(change, kinds.key, name)) !== null;

async function issue(
  change: Change,
  name: string,
  previous: Partial<Pick<KeyTable, 'previous_hash' | 'previous_until'>> = {},
) {
  const secret = createKeySecret();
  await updateRow(change, kinds.key, name, { ...setSecret(change, secret), ...previous });
  const key = await findKey(change.trx, name);
  if (key === null) throw new Error(`key '${name}' does not exist`);
  return { key, secret };
}

/** A new secret makes a revoked key usable again. */
function setSecret(change: Change, secret: string) {
  return {
    hash: change.secrets.hashKey(secret),
    secret_owner: change.owner,
    prefix: displayPrefix(secret),
    revoked_at: null,
    previous_hash: null,
    previous_until: null,
  };
}

async function secretColumns(
  change: Change,
  { name, secret }: DeclaredKey,
  existing: { readonly hash: string | null; readonly secret_owner: Owner | null } | undefined,
) {
  if (secret === null) return {};
  const columns = setSecret(change, secret);
  if (existing?.hash === columns.hash) return { secret_owner: change.owner };
  const other = await change.trx
    .selectFrom('keys')
    .select('name')
    .where((where) =>
      where.or([where('hash', '=', columns.hash), where('previous_hash', '=', columns.hash)]),
    )
    .where('name', '<>', name)
    .executeTakeFirst();
  if (other !== undefined)
    throw new Error(`keys '${other.name}' and '${name}' have the same secret`);
  return columns;
}

async function idOf(
  trx: Transaction<Database>,
  table: 'users' | 'teams',
  column: 'email' | 'name',
  value: string,
  key: string,
): Promise<string> {
  const row = await trx.selectFrom(table).select('id').where(column, '=', value).executeTakeFirst();
  if (row === undefined) {
    throw new Error(
      `key '${key}': ${table === 'users' ? 'user' : 'team'} '${value}' does not exist`,
    );
  }
  return row.id;
}

function find(trx: Transaction<Database>, name: string) {
  return trx.selectFrom('keys').selectAll().where('name', '=', name).executeTakeFirst();
}
