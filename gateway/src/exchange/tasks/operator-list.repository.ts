import type { Kysely } from 'kysely';
import { formatUsd, type Database } from '#database/index.ts';

/** A task as the operator sees it. Times are RFC 3339, amounts decimal text in USD. */
export interface TaskEntry {
  readonly id: string;
  /** The `x-request-id` of the submit, and the id of the usage row. */
  readonly request: string;
  readonly time: string;
  /** E-mail address, or the id if the user no longer exists. */
  readonly user: string;
  readonly team: string | null;
  readonly model: string;
  readonly state: string;
  /** Null: no upstream has accepted it. */
  readonly channel: string | null;
  /** For the vendor's support. Clients never see it. */
  readonly upstream_id: string | null;
  /** While it is open; null: it is free. */
  readonly held: string | null;
  readonly looked: string | null;
  readonly failed_looks: number;
  readonly ended: string | null;
  /** Milliseconds or tokens that were made after it had expired, for which the operator pays; null: nothing. */
  readonly lost: number | null;
}

export interface TaskFilter {
  /** Only those that have not ended. */
  readonly open: boolean;
  /** E-mail address or id. */
  readonly user?: string;
  /** As clients wrote it. */
  readonly model?: string;
  readonly limit: number;
}

/** The newest first, and how many match. */
export async function listTasks(
  db: Kysely<Database>,
  { open, user, model, limit }: TaskFilter,
): Promise<{ readonly data: readonly TaskEntry[]; readonly total: number }> {
  let query = db
    .selectFrom('tasks')
    .leftJoin('users', 'users.id', 'tasks.user_id')
    .leftJoin('teams', 'teams.id', 'tasks.team_id');
  if (open) query = query.where('tasks.ended_at', 'is', null);
  if (model !== undefined) query = query.where('tasks.model', '=', model);
  if (user !== undefined) {
    query = query.where((eb) =>
      eb.or([eb('users.email', '=', user.toLowerCase()), eb('tasks.user_id', '=', user)]),
    );
  }
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .selectAll('tasks')
    .select(['users.email as user_email', 'teams.name as team_name'])
    .orderBy('tasks.created_at', 'desc')
    .orderBy('tasks.id')
    .limit(limit)
    .execute();
  const data = rows.map((row) => ({
    id: row.id,
    request: row.request_id,
    time: timeOf(row.created_at),
    user: row.user_email ?? row.user_id,
    team: row.team_name ?? row.team_id,
    model: row.model,
    state: row.state,
    channel: row.channel,
    upstream_id: row.upstream_id,
    held: row.held === null || row.ended_at !== null ? null : formatUsd(row.held),
    looked: row.looked_at === null ? null : timeOf(row.looked_at),
    failed_looks: row.failed_looks,
    ended: row.ended_at === null ? null : timeOf(row.ended_at),
    lost: row.lost_quantity,
  }));
  return { data, total };
}

const timeOf = (milliseconds: number): string => new Date(milliseconds).toISOString();
