import { createHash, randomBytes } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Change } from '#database/change.ts';
import { isPostgres } from '#database/expressions.ts';
import type { Database } from '#database/schema.ts';
import { readPreferences, type Preferences } from './preferences.repository.ts';
import { endSessionKeys } from './session-keys.repository.ts';

/** Milliseconds. */
export const sessionRules = Object.freeze({
  /** Without a request for this long a session ends. */
  idle: 12 * 3_600_000,
  /** Every session ends after this time. */
  longest: 7 * 24 * 3_600_000,
  /** `seen_at` is written at most this often. */
  touch: 60_000,
});

/** Somebody who is signed in. */
export interface Session {
  /** The hash of the secret. */
  readonly id: string;
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly name: string | null;
    readonly role: string;
    /** Whether the gateway itself created the person, at its first start. */
    readonly isFirst: boolean;
    /** Whether the file declares the person, who is then changed there. */
    readonly isOfFile: boolean;
  };
  readonly preferences: Preferences;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly seenAt: number;
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** When a session ends unless something is done in it. Unix milliseconds. */
export function sessionEnd({ createdAt, seenAt }: Pick<Session, 'createdAt' | 'seenAt'>): number {
  return Math.min(createdAt + sessionRules.longest, seenAt + sessionRules.idle);
}

export interface NewSession {
  /** As it was when the password was checked. */
  readonly user: {
    readonly id: string;
    readonly role: string;
    readonly passwordHash: string | null;
  };
  readonly address: string | null;
  readonly userAgent: string | null;
  /** What else belongs into the transaction of the start. */
  readonly beside?: (trx: Transaction<Database>) => Promise<void>;
}

/**
 * Starts a session.
 * @returns its secret, which is stored nowhere; null if the person has been disabled meanwhile, or has another role or
 *   password: that change has already ended the sessions, and would not see this one
 */
export async function startSession(
  db: Kysely<Database>,
  { user, address, userAgent, beside }: NewSession,
  now: number,
): Promise<string | null> {
  const secret = randomBytes(32).toString('base64url');
  const startedSession = await db.transaction().execute(async (trx) => {
    const same = await trx
      .selectFrom('users')
      .select('id')
      .where('id', '=', user.id)
      .where('role', '=', user.role)
      .where('password_hash', user.passwordHash === null ? 'is' : '=', user.passwordHash)
      .where('enabled', '=', 1)
      // A change under way is waited for, and one that follows waits for this session.
      .$if(isPostgres(db), (query) => query.forShare())
      .executeTakeFirst();
    if (same === undefined) return false;
    await trx
      .insertInto('sessions')
      .values({
        id: idOf(secret),
        user_id: user.id,
        role: user.role,
        address,
        user_agent: userAgent?.slice(0, 400) ?? null,
        created_at: now,
        seen_at: now,
      })
      .execute();
    await beside?.(trx);
    return true;
  });
  return startedSession ? secret : null;
}

/** The session of a secret; null if there is none, or if it has ended. */
export async function findSession(
  db: Kysely<Database>,
  secret: string,
  now: number,
): Promise<Session | null> {
  const row = await liveSessions(db, now)
    .where('sessions.id', '=', idOf(secret))
    .executeTakeFirst();
  if (row === undefined) return null;
  if (now - row.seen_at >= sessionRules.touch) {
    await db.updateTable('sessions').set({ seen_at: now }).where('id', '=', row.id).execute();
  }
  return toSession(row);
}

/** Where this person is signed in, the latest first. */
export async function listSessions(
  db: Kysely<Database>,
  userId: string,
  now: number,
): Promise<Session[]> {
  const rows = await liveSessions(db, now)
    .where('sessions.user_id', '=', userId)
    .orderBy('sessions.seen_at', 'desc')
    .orderBy('sessions.id')
    .execute();
  return rows.map(toSession);
}

/** How often each of these people is signed in, and when they were last seen; who is not is absent. */
export async function countSessions(
  db: Kysely<Database>,
  userIds: readonly string[],
  now: number,
): Promise<ReadonlyMap<string, { readonly count: number; readonly seenAt: number }>> {
  if (userIds.length === 0) return new Map();
  const rows = await liveSessions(db, now)
    .clearSelect()
    .select((of) => [
      'users.id',
      of.fn.countAll<number>().as('count'),
      of.fn.max('sessions.seen_at').as('seenAt'),
    ])
    .where('users.id', 'in', userIds)
    .groupBy('users.id')
    .execute();
  return new Map(rows.map(({ id, count, seenAt }) => [id, { count, seenAt }]));
}

/** Ends a session of this person, with its keys. False: there is no such session. */
export async function endSession(
  change: Change,
  { id, userId }: { readonly id: string; readonly userId: string },
): Promise<boolean> {
  const { numDeletedRows } = await change.trx
    .deleteFrom('sessions')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  await endSessionKeys(change, { sessionId: id });
  return true;
}

/** Ends every session of a person with its keys, as part of a change that requires it; returns their number. */
export async function endSessionsOf(change: Change, userId: string): Promise<number> {
  const { numDeletedRows } = await change.trx
    .deleteFrom('sessions')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  await endSessionKeys(change, { userId });
  return Number(numDeletedRows);
}

/** Removes the rows of sessions that have ended by themselves. */
export async function removeEndedSessions(db: Kysely<Database>, now: number): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where(({ eb, or }) =>
      or([
        eb('seen_at', '<=', now - sessionRules.idle),
        eb('created_at', '<=', now - sessionRules.longest),
      ]),
    )
    .execute();
}

/** A session ends with its times, and at once when its person is disabled or gets another role. */
function liveSessions(db: Kysely<Database>, now: number) {
  return db
    .selectFrom('sessions')
    .innerJoin('users', 'users.id', 'sessions.user_id')
    .whereRef('users.role', '=', 'sessions.role')
    .where('users.enabled', '=', 1)
    .where('sessions.seen_at', '>', now - sessionRules.idle)
    .where('sessions.created_at', '>', now - sessionRules.longest)
    .select([
      'sessions.id',
      'sessions.created_at',
      'sessions.seen_at',
      'sessions.address',
      'sessions.user_agent',
      'users.id as user_id',
      'users.email',
      'users.name',
      'users.role',
      'users.owner',
      'users.preferences',
    ]);
}

interface Row {
  readonly id: string;
  readonly created_at: number;
  readonly seen_at: number;
  readonly address: string | null;
  readonly user_agent: string | null;
  readonly user_id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  readonly owner: string;
  readonly preferences: string | null;
}

function toSession(row: Row): Session {
  const { user_id, email, name, role, owner } = row;
  return {
    id: row.id,
    user: {
      id: user_id,
      email,
      name,
      role,
      isFirst: owner === 'system',
      isOfFile: owner === 'file',
    },
    preferences: readPreferences(row.preferences),
    createdAt: row.created_at,
    seenAt: row.seen_at,
    address: row.address,
    userAgent: row.user_agent,
  };
}

function idOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
