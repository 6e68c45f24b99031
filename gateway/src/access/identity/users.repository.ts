import { type Kysely, type Selectable, sql } from 'kysely';
import { type DeclaredUser, kinds } from '#config/index.ts';
import { assertMayChange, type Change, type Upserted } from '#database/change.ts';
import { containing } from '#database/expressions.ts';
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
  /** When the invitation ends with which a first password can be set. Unix milliseconds; null: there is none. */
  readonly invitedUntil: number | null;
};

export interface UserFilter {
  /** What the address or the name contains, in capitals or not. */
  readonly search?: string;
  /** Only users after this address, for the next page. */
  readonly after?: string;
  readonly limit?: number;
}

/** Users by e-mail address, including disabled ones. */
export async function listUsers(
  db: Kysely<Database>,
  { search, after, limit }: UserFilter = {},
): Promise<StoredUser[]> {
  let query = db.selectFrom('users').selectAll().orderBy('email');
  if (search !== undefined) query = query.where(namedLike(search));
  if (after !== undefined) query = query.where('email', '>', after);
  if (limit !== undefined) query = query.limit(limit);
  return (await query.execute()).map(toUser);
}

/** Whether the address or the name of a person contains a text, in capitals or not. */
export const namedLike = (text: string) =>
  sql<boolean>`(${containing(sql.ref('users.email'), text)} or ${containing(sql`coalesce(users.name, '')`, text)})`;

/** @param reference an id, otherwise an e-mail address */
export async function findUser(
  db: Kysely<Database>,
  reference: string,
): Promise<StoredUser | null> {
  const row = await db
    .selectFrom('users')
    .selectAll()
    .where('id', '=', reference)
    .executeTakeFirst();
  return row === undefined ? findUserByEmail(db, reference) : toUser(row);
}

/** Compares e-mail addresses without regard to case. */
export async function findUserByEmail(
  db: Kysely<Database>,
  email: string,
): Promise<StoredUser | null> {
  const row = await find(db, email);
  return row === undefined ? null : toUser(row);
}

/** The e-mail addresses of the users, or names of the teams, that are enabled: nothing else of them is read. */
export async function enabledNames(
  db: Kysely<Database>,
  table: 'users' | 'teams',
): Promise<string[]> {
  const name = table === 'users' ? sql.ref<string>('email') : sql.ref<string>('name');
  const rows = await db
    .selectFrom(table)
    .select(name.as('name'))
    .where('enabled', '=', 1)
    .execute();
  return rows.map((row) => row.name);
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
    if (!user.enabled) await endInvitation(change, String(before['id']));
  }
  return outcome;
}

/** False if it does not exist or is already disabled. */
export async function disableUser(change: Change, email: string): Promise<boolean> {
  const before = await disableRow(change, kinds.user, normalise(email));
  if (before === null) return false;
  await endSessionsOf(change, String(before['id']));
  await endInvitation(change, String(before['id']));
  return true;
}

/**
 * Sets the console password (already hashed), whoever owns the user, and ends all sessions and the invitation of the user.
 * @throws Error if the user does not exist.
 */
export async function setPassword(change: Change, email: string, hash: string): Promise<void> {
  const existing = await find(change.trx, email);
  if (existing === undefined) throw new Error(`user '${email}' does not exist`);
  await updateRow(change, kinds.user, existing.email, {
    password_hash: hash,
    ...noInvitation,
  });
  await endSessionsOf(change, existing.id);
}

const noInvitation = { invite_hash: null, invited_until: null };

/**
 * Lets whoever has the token of this hash set the user's password. An earlier invitation ends.
 * @param until Unix milliseconds
 */
export async function inviteUser(
  { trx }: Change,
  userId: string,
  { hash, until }: { readonly hash: string; readonly until: number },
): Promise<void> {
  await trx
    .updateTable('users')
    .set({ invite_hash: hash, invited_until: until })
    .where('id', '=', userId)
    .execute();
}

async function endInvitation({ trx }: Change, userId: string): Promise<void> {
  await trx.updateTable('users').set(noInvitation).where('id', '=', userId).execute();
}

/** Who may set a password with the token of this hash at this time; null: nobody. */
export async function findInvitedUser(
  db: Kysely<Database>,
  hash: string,
  now: number,
): Promise<StoredUser | null> {
  const row = await db
    .selectFrom('users')
    .selectAll()
    .where('invite_hash', '=', hash)
    .where('invited_until', '>', now)
    .where('enabled', '=', 1)
    .executeTakeFirst();
  return row === undefined ? null : toUser(row);
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
    ...noInvitation,
  });
  for (const table of ['identities', 'recovery_codes', 'second_factors'] as const) {
    await change.trx.deleteFrom(table).where('user_id', '=', id).execute();
  }
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
  return {
    id: row.id,
    ...entryOf(kinds.user, row),
    passwordHash: row.password_hash,
    invitedUntil: row.invited_until,
  };
}
