import type { Kysely } from 'kysely';
import type { Database } from '#database/index.ts';

/** Whom one id was given, and by which channel. Digests. */
export interface KnownState {
  readonly id: string;
  readonly owner: string;
  readonly channel: string;
  readonly credential: string | null;
  readonly expiresAt: number;
}

/** Ids in one statement. */
const perQuery = 500;

/**
 * Everybody whom these ids were given.
 * @param ids digests
 * @param now Unix milliseconds; what has expired by then is not known any more
 * @throws what the database throws
 */
export async function knownState(
  db: Kysely<Database>,
  ids: readonly string[],
  now: number,
): Promise<KnownState[]> {
  const known: KnownState[] = [];
  for (let at = 0; at < ids.length; at += perQuery) {
    const rows = await db
      .selectFrom('upstream_state')
      .select(['id', 'owner', 'channel', 'credential', 'expires_at as expiresAt'])
      .where('id', 'in', ids.slice(at, at + perQuery))
      .where('expires_at', '>', now)
      .execute();
    known.push(...rows);
  }
  return known;
}
