import type { Kysely } from 'kysely';
import type { Database } from '#database/index.ts';

/** An owner that received an id, and the channel it came from. Digests. */
export interface KnownState {
  readonly id: string;
  readonly owner: string;
  readonly channel: string;
  readonly credential: string | null;
  readonly expiresAt: number;
}

/** Ids per statement. */
const perQuery = 500;

/**
 * All owners that received these ids.
 * @param ids digests
 * @param now Unix milliseconds; ids that have expired by then are unknown
 * @throws the error of the database
 */
export async function knownState(
  db: Kysely<Database>,
  ids: readonly string[],
  now: number,
): Promise<KnownState[]> {
  const knownStates: KnownState[] = [];
  for (let at = 0; at < ids.length; at += perQuery) {
    const rows = await db
      .selectFrom('upstream_state')
      .select(['id', 'owner', 'channel', 'credential', 'expires_at as expiresAt'])
      .where('id', 'in', ids.slice(at, at + perQuery))
      .where('expires_at', '>', now)
      .execute();
    knownStates.push(...rows);
  }
  return knownStates;
}
