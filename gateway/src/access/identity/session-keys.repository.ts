import type { Kysely } from 'kysely';
import { kinds } from '#config/index.ts';
import type { Change } from '#database/change.ts';
import type { Secrets } from '#database/index.ts';
import { columnsOf, createId } from '#database/rows.ts';
import type { Database } from '#database/schema.ts';
import { sessionKeyName } from '#database/expressions.ts';
import { displayPrefix, keySecretOf } from './key-secret.ts';

/** What a key of a session is for. Each of it has a key of its own. */
export interface SessionKeyUse {
  readonly sessionId: string;
  readonly userId: string;
  /** Null: the person pays. */
  readonly teamId: string | null;
  readonly group: string;
}

/** The secret of a session's key. It follows from the session, so nothing of it is stored but the hash. */
export function sessionKeySecret(
  secrets: Pick<Secrets, 'keyBytes'>,
  { sessionId, teamId, group }: SessionKeyUse,
): string {
  let round = 0;
  return keySecretOf(() => {
    round += 1;
    return secrets.keyBytes(JSON.stringify(['session key', sessionId, teamId, group, round]));
  });
}

/** Until when this secret is valid; null: it is not. Unix milliseconds. */
export async function sessionKeyExpiry(
  db: Kysely<Database>,
  secrets: Pick<Secrets, 'hashKey'>,
  secret: string,
): Promise<number | null> {
  const row = await db
    .selectFrom('keys')
    .select('expires_at')
    .where('hash', '=', secrets.hashKey(secret))
    .where('revoked_at', 'is', null)
    .executeTakeFirst();
  return row?.expires_at ?? null;
}

/**
 * Makes a session's key valid until then. Rows of the person's ended sessions are used again, so that they do not
 * become more with each sign-in. False: the session has ended meanwhile, and so has every key of it.
 */
export async function keepSessionKey(
  change: Change,
  use: SessionKeyUse,
  { secret, expiresAt }: { readonly secret: string; readonly expiresAt: number },
): Promise<boolean> {
  const { trx, now } = change;
  const session = await trx
    .selectFrom('sessions')
    .select('id')
    .where('id', '=', use.sessionId)
    .executeTakeFirst();
  if (session === undefined) return false;
  const hash = change.secrets.hashKey(secret);
  const values = {
    hash,
    secret_owner: change.owner,
    prefix: displayPrefix(secret),
    team_id: use.teamId,
    group_name: use.group,
    session_id: use.sessionId,
    expires_at: expiresAt,
    revoked_at: null,
    updated_at: now,
    revision: await change.revision(),
  };
  const own = trx.selectFrom('keys').select('id');
  const row =
    (await own.where('hash', '=', hash).executeTakeFirst()) ??
    (await own
      .where('user_id', '=', use.userId)
      .where('session_id', 'is not', null)
      .where((where) =>
        where.or([where('revoked_at', 'is not', null), where('expires_at', '<=', now)]),
      )
      .executeTakeFirst());
  if (row !== undefined) {
    await trx.updateTable('keys').set(values).where('id', '=', row.id).execute();
    return true;
  }
  const id = createId('key');
  await trx
    .insertInto('keys')
    .values({
      ...columnsOf(kinds.key, {}),
      ...values,
      id,
      // Names are unique; nobody sees this one.
      name: `${sessionKeyName} ${id}`,
      user_id: use.userId,
      owner: change.owner,
      created_at: now,
      previous_hash: null,
      previous_until: null,
    })
    .execute();
  return true;
}

/** Ends the keys of one session, or of all sessions of a person. */
export async function endSessionKeys(
  change: Change,
  of: { readonly sessionId: string } | { readonly userId: string },
): Promise<void> {
  const { trx } = change;
  const live = trx
    .selectFrom('keys')
    .select('id')
    .where('session_id', 'is not', null)
    .where('revoked_at', 'is', null);
  const rows = await (
    'sessionId' in of
      ? live.where('session_id', '=', of.sessionId)
      : live.where('user_id', '=', of.userId)
  ).execute();
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await trx
    .updateTable('keys')
    .set({ revoked_at: change.now, updated_at: change.now, revision: await change.revision() })
    .where('id', 'in', ids)
    .execute();
}
