import type { Kysely, Selectable } from 'kysely';
import type { DeclaredUser } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import { formatUsd, parseUsd } from '#database/money.ts';
import { bit, createId, differs, ownedFields, type Stored } from '#database/rows.ts';
import type { Database, UserTable } from '#database/schema.ts';
import { openAccount } from '#ledger/index.ts';
import { groupsFromText, groupsToText } from './group-list.ts';
import { endSessionsOf } from './sessions.repository.ts';

export type StoredUser = Stored<DeclaredUser> & {
  readonly id: string;
  /** See `database/password`; null: no console login. */
  readonly passwordHash: string | null;
};

/** All users, by e-mail address, including disabled ones. */
export async function listUsers(db: Kysely<Database>): Promise<StoredUser[]> {
  const rows = await db.selectFrom('users').selectAll().orderBy('email').execute();
  return rows.map(toUser);
}

/** Compares e-mail addresses without regard to case. */
export async function findUserByEmail(
  db: Kysely<Database>,
  email: string,
): Promise<StoredUser | null> {
  const row = await find(db, email);
  return row === undefined ? null : toUser(row);
}

/** The groups that a person may give keys of their own. */
export async function groupsOfUser(
  db: Kysely<Database>,
  userId: string,
): Promise<readonly string[]> {
  const row = await db
    .selectFrom('users')
    .select('groups')
    .where('id', '=', userId)
    .executeTakeFirst();
  return row === undefined ? [] : groupsFromText(row.groups);
}

/**
 * Creates or changes the user with this e-mail address. The opening credit applies only at creation.
 * @throws OwnedElsewhere if the user has another owner.
 */
export async function upsertUser(change: Change, user: DeclaredUser): Promise<Upserted> {
  const { trx, owner, now } = change;
  const values = {
    name: user.name,
    role: user.role,
    quota: user.quota === null ? null : parseUsd(user.quota),
    groups: groupsToText(user.groups),
    owner,
    enabled: bit(user.enabled),
  };
  const existing = await find(trx, user.email);
  if (existing === undefined) {
    const id = createId('usr');
    const credit = parseUsd(user.balance);
    await trx
      .insertInto('users')
      .values({
        ...values,
        id,
        email: normalise(user.email),
        opening_credit: credit,
        created_at: now,
        updated_at: now,
        revision: await change.revision(),
      })
      .execute();
    await openAccount(change, `user:${id}`, credit);
    return 'created';
  }
  assertMayChange(change, 'user', user.email, existing.owner);
  if (!differs(existing, values)) return 'unchanged';
  await update(change, user.email, values);
  // Otherwise a session of before would open the console again once the person has the former role back.
  if (existing.role !== values.role || existing.enabled !== values.enabled) {
    await endSessionsOf(change, existing.id);
  }
  return 'updated';
}

/** False if it does not exist or is already disabled. */
export async function disableUser(change: Change, email: string): Promise<boolean> {
  const existing = await find(change.trx, email);
  if (existing === undefined || existing.enabled === 0) return false;
  assertMayChange(change, 'user', email, existing.owner);
  await update(change, email, { enabled: 0 });
  await endSessionsOf(change, existing.id);
  return true;
}

/**
 * Sets the console password (already hashed), whoever owns the user, and ends all sessions of the user.
 * @throws Error if the user does not exist.
 */
export async function setPassword(change: Change, email: string, hash: string): Promise<void> {
  const existing = await find(change.trx, email);
  if (existing === undefined) throw new Error(`user '${email}' does not exist`);
  await update(change, email, { password_hash: hash });
  await endSessionsOf(change, existing.id);
}

/**
 * Gives somebody another name, whoever has created them.
 * @throws OwnedElsewhere if the file declares the user
 */
export async function renameUser(
  change: Change,
  { email, owner }: Pick<StoredUser, 'email' | 'owner'>,
  name: string | null,
): Promise<void> {
  assertMayChange(change, 'user', email, owner);
  await update(change, email, { name });
}

function find(db: Kysely<Database>, email: string) {
  return db
    .selectFrom('users')
    .selectAll()
    .where('email', '=', normalise(email))
    .executeTakeFirst();
}

async function update(change: Change, email: string, values: object): Promise<void> {
  await change.trx
    .updateTable('users')
    .set({ ...values, updated_at: change.now, revision: await change.revision() })
    .where('email', '=', normalise(email))
    .execute();
}

function normalise(email: string): string {
  return email.trim().toLowerCase();
}

function toUser(row: Selectable<UserTable>): StoredUser {
  return {
    id: row.id,
    email: row.email,
    name: row.name,
    role: row.role as DeclaredUser['role'],
    balance: formatUsd(row.opening_credit),
    quota: row.quota === null ? null : formatUsd(row.quota),
    groups: groupsFromText(row.groups),
    passwordHash: row.password_hash,
    ...ownedFields(row),
  };
}
