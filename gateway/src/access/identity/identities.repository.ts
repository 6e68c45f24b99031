import type { Kysely } from 'kysely';
import type { Change } from '#database/change.ts';
import type { Database } from '#database/schema.ts';

/** Who somebody is at a provider of OpenID Connect. */
export interface Identity {
  readonly issuer: string;
  /** The provider's name for the person, which never changes. */
  readonly subject: string;
}

/** The id of the person who is linked to it; null: nobody. */
export async function userOfIdentity(
  db: Kysely<Database>,
  { issuer, subject }: Identity,
): Promise<string | null> {
  const row = await db
    .selectFrom('identities')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  return row?.user_id ?? null;
}

/** Whether a person has an identity at this issuer, whichever it is. */
export async function isLinked(
  db: Kysely<Database>,
  userId: string,
  issuer: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('identities')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('issuer', '=', issuer)
    .executeTakeFirst();
  return row !== undefined;
}

/** Those of these people who have an identity at any issuer. */
export async function withIdentity(
  db: Kysely<Database>,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('identities')
    .select('user_id')
    .where('user_id', 'in', userIds)
    .execute();
  return new Set(rows.map(({ user_id: id }) => id));
}

/** Ends all links of a person; returns their issuers. */
export async function unlinkIdentities({ trx }: Change, userId: string): Promise<string[]> {
  const rows = await trx
    .deleteFrom('identities')
    .where('user_id', '=', userId)
    .returning('issuer')
    .execute();
  return rows.map(({ issuer }) => issuer);
}

/** Links a person to an identity that nobody has, at an issuer where the person has none. */
export async function linkIdentity(
  { trx, now }: Change,
  userId: string,
  { issuer, subject }: Identity,
): Promise<void> {
  await trx
    .insertInto('identities')
    .values({ issuer, subject, user_id: userId, created_at: now })
    .execute();
}

/**
 * Notes that a sign-in has come back, and forgets those whose cookies are too old by now.
 * @param id a hash of its state
 * @param until Unix milliseconds
 * @returns false if it had come back before
 */
export async function finishOnce(
  { trx, now }: Change,
  { id, until }: { readonly id: string; readonly until: number },
): Promise<boolean> {
  await trx.deleteFrom('finished_sign_ins').where('expires_at', '<=', now).execute();
  const { numInsertedOrUpdatedRows = 0n } = await trx
    .insertInto('finished_sign_ins')
    .values({ id, expires_at: until })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}

/** The administrators who can sign in, the oldest first. */
export function listAdministrators(
  db: Kysely<Database>,
): Promise<{ readonly id: string; readonly hasPassword: boolean }[]> {
  return db
    .selectFrom('users')
    .select(['id', 'password_hash'])
    .where('role', '=', 'admin')
    .where('enabled', '=', 1)
    .where(({ or, eb, exists, selectFrom }) =>
      or([
        eb('password_hash', 'is not', null),
        exists(
          selectFrom('identities')
            .select('identities.user_id')
            .whereRef('identities.user_id', '=', 'users.id'),
        ),
      ]),
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute()
    .then((rows) =>
      rows.map(({ id, password_hash: hash }) => ({ id, hasPassword: hash !== null })),
    );
}
