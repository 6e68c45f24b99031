import type { Kysely, Selectable } from 'kysely';
import { type DeclaredUser, kinds } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import {
  columnsOf,
  createId,
  disableRow,
  entryOf,
  type StoredEntry,
  updateRow,
  upsertRow,
} from '#database/rows.ts';
import type { Database, UserTable } from '#database/schema.ts';
import { openAccount } from '#ledger/index.ts';
import { endSessionsOf } from './sessions.repository.ts';

export type StoredUser = StoredEntry<typeof kinds.user> & {
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
  return row === undefined ? [] : (JSON.parse(row.groups) as readonly string[]);
}

/**
 * Creates or changes the user with this e-mail address. The opening credit applies only at creation.
 * @throws OwnedElsewhere if the user has another owner.
 */
export async function upsertUser(change: Change, user: DeclaredUser): Promise<Upserted> {
  const email = normalise(user.email);
  const columns = columnsOf(kinds.user, { ...user, email });
  const id = createId('usr');
  const { outcome, before } = await upsertRow(change, kinds.user, {
    name: email,
    columns,
    created: { id },
  });
  if (before === null) await openAccount(change, `user:${id}`, columns.opening_credit);
  // Otherwise a session of before would open the console again once the person has the former role back.
  else if (before['role'] !== columns.role || before['enabled'] !== columns.enabled) {
    await endSessionsOf(change, String(before['id']));
  }
  return outcome;
}

/** False if it does not exist or is already disabled. */
export async function disableUser(change: Change, email: string): Promise<boolean> {
  const before = await disableRow(change, kinds.user, normalise(email));
  if (before !== null) await endSessionsOf(change, String(before['id']));
  return before !== null;
}

/**
 * Sets the console password (already hashed), whoever owns the user, and ends all sessions of the user.
 * @throws Error if the user does not exist.
 */
export async function setPassword(change: Change, email: string, hash: string): Promise<void> {
  const existing = await find(change.trx, email);
  if (existing === undefined) throw new Error(`user '${email}' does not exist`);
  await updateRow(change, kinds.user, existing.email, { password_hash: hash });
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
  await updateRow(change, kinds.user, email, { name });
}

/** Replaces the address and removes all else that is known of a person but the id; ends the sessions. */
export async function eraseUser(
  change: Change,
  { id, email }: Pick<StoredUser, 'id' | 'email'>,
  newEmail: string,
): Promise<void> {
  await updateRow(change, kinds.user, email, {
    email: newEmail,
    name: null,
    role: 'member',
    enabled: 0,
    password_hash: null,
    preferences: null,
  });
  await endSessionsOf(change, id);
}

function find(db: Kysely<Database>, email: string) {
  return db
    .selectFrom('users')
    .selectAll()
    .where('email', '=', normalise(email))
    .executeTakeFirst();
}

function normalise(email: string): string {
  return email.trim().toLowerCase();
}

function toUser(row: Selectable<UserTable>): StoredUser {
  return { id: row.id, ...entryOf(kinds.user, row), passwordHash: row.password_hash };
}
