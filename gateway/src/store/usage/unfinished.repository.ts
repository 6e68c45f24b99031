import type { Kysely } from 'kysely';
import { shownKeyName } from '#database/expressions.ts';
import { formatUsd, type Database } from '#database/index.ts';

/** An attempt that was cut off by the end of the gateway: its upstream may bill it, and nobody was charged. */
export interface UnfinishedAttempt {
  /** The `x-request-id`. */
  readonly id: string;
  readonly attempt: number;
  /** RFC 3339. */
  readonly time: string;
  /** Its name, or its id if the key no longer exists. */
  readonly key: string;
  /** E-mail address, or the id if the user no longer exists. */
  readonly user: string;
  readonly team: string | null;
  readonly model: string;
  readonly channel: string;
  /** The most that the request would have cost: decimal text in USD; null if it was free. */
  readonly held: string | null;
}

/** Newest first; `from` is inclusive, `to` exclusive. Unix milliseconds. */
export async function listUnfinished(
  db: Kysely<Database>,
  { from, to }: { readonly from?: number | undefined; readonly to?: number | undefined },
): Promise<UnfinishedAttempt[]> {
  let query = db
    .selectFrom('unfinished_attempts as attempt')
    .leftJoin('keys', 'keys.id', 'attempt.key_id')
    .leftJoin('users', 'users.id', 'attempt.user_id')
    .leftJoin('teams', 'teams.id', 'attempt.team_id')
    .selectAll('attempt')
    .select(['users.email as user_email', 'teams.name as team_name'])
    .select(shownKeyName.as('key_name'));
  if (from !== undefined) query = query.where('attempt.time', '>=', from);
  if (to !== undefined) query = query.where('attempt.time', '<', to);
  const rows = await query.orderBy('attempt.time', 'desc').orderBy('attempt.id').execute();
  return rows.map((row) => ({
    id: row.id,
    attempt: row.attempt,
    time: new Date(row.time).toISOString(),
    key: row.key_name ?? row.key_id,
    user: row.user_email ?? row.user_id,
    team: row.team_name ?? row.team_id,
    model: row.model,
    channel: row.channel,
    held: row.held === null ? null : formatUsd(row.held),
  }));
}
