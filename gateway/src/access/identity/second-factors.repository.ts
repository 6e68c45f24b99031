import type { Kysely } from 'kysely';
import type { Change } from '#database/change.ts';
import type { Database } from '#database/schema.ts';

/** What makes the codes of a person. */
export interface SecondFactor {
  /** Sealed. */
  readonly secret: string;
  /** Unix milliseconds; null: it is not in force yet. */
  readonly confirmedAt: number | null;
  /** The step of the last code. */
  readonly lastStep: number;
}

export async function findSecondFactor(
  db: Kysely<Database>,
  userId: string,
): Promise<SecondFactor | null> {
  const row = await db
    .selectFrom('second_factors')
    .selectAll()
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row === undefined
    ? null
    : { secret: row.secret, confirmedAt: row.confirmed_at, lastStep: row.last_step };
}

/** Begins one, in the place of one that is not in force. */
export async function putSecondFactor(
  { trx, now }: Change,
  userId: string,
  sealed: string,
): Promise<void> {
  await trx.deleteFrom('second_factors').where('user_id', '=', userId).execute();
  await trx
    .insertInto('second_factors')
    .values({ user_id: userId, secret: sealed, confirmed_at: null, created_at: now })
    .execute();
}

/** Brings one into force. @param hashes of the codes that replace it, each once */
export async function confirmSecondFactor(
  { trx, now }: Change,
  userId: string,
  step: number,
  hashes: readonly string[],
): Promise<void> {
  await trx
    .updateTable('second_factors')
    .set({ confirmed_at: now, last_step: step })
    .where('user_id', '=', userId)
    .execute();
  await trx
    .insertInto('recovery_codes')
    .values(hashes.map((hash) => ({ user_id: userId, hash })))
    .execute();
}

/** Uses the code of a step up. False: it, or a later one, was used before. */
export async function takeStep(
  db: Kysely<Database>,
  userId: string,
  step: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('second_factors')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('last_step', '<', step)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Uses a recovery code up. False: there is none with this hash. */
export async function takeRecoveryCode(
  db: Kysely<Database>,
  userId: string,
  hash: string,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function countRecoveryCodes(db: Kysely<Database>, userId: string): Promise<number> {
  const { count } = await db
    .selectFrom('recovery_codes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return count;
}

/** Ends one with its recovery codes. False: there was none in force. */
export async function removeSecondFactor({ trx }: Change, userId: string): Promise<boolean> {
  const before = await findSecondFactor(trx, userId);
  for (const table of ['recovery_codes', 'second_factors'] as const) {
    await trx.deleteFrom(table).where('user_id', '=', userId).execute();
  }
  return before !== null && before.confirmedAt !== null;
}

/** Those of these people who have one in force. */
export async function withSecondFactor(
  db: Kysely<Database>,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('second_factors')
    .select('user_id')
    .where('user_id', 'in', userIds)
    .where('confirmed_at', 'is not', null)
    .execute();
  return new Set(rows.map(({ user_id: id }) => id));
}

/** How people who may sign in can do so. */
export interface SignInCounts {
  readonly people: number;
  readonly passwords: number;
  /** Connected to a person at this issuer. */
  readonly connected: number;
  readonly secondFactors: number;
}

/** @param issuer null: there is no provider */
export async function countSignIns(
  db: Kysely<Database>,
  issuer: string | null,
): Promise<SignInCounts> {
  const enabled = db.selectFrom('users').where('users.enabled', '=', 1);
  const { people, passwords } = await enabled
    .select(({ fn }) => [
      fn.countAll<number>().as('people'),
      fn.count<number>('users.password_hash').as('passwords'),
    ])
    .executeTakeFirstOrThrow();
  const { connected } = await enabled
    .innerJoin('identities', 'identities.user_id', 'users.id')
    .where('identities.issuer', '=', issuer ?? '')
    .select(({ fn }) => fn.countAll<number>().as('connected'))
    .executeTakeFirstOrThrow();
  const { factors } = await enabled
    .innerJoin('second_factors', 'second_factors.user_id', 'users.id')
    .where('second_factors.confirmed_at', 'is not', null)
    .select(({ fn }) => fn.countAll<number>().as('factors'))
    .executeTakeFirstOrThrow();
  return {
    people,
    passwords,
    connected,
    secondFactors: factors,
  };
}
