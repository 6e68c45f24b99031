import { sql } from 'kysely';
import type { TaskMembers, TaskState } from '#canonical/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import type { TaskRow } from './task-row.ts';

/** What a look leaves in a row that has not ended. */
export interface Looked {
  readonly row: TaskRow;
  readonly state: TaskState;
  readonly members: TaskMembers;
  readonly failedLooks: number;
  /** Unix milliseconds. */
  readonly dueAt: number;
  /** Of the last answer about it; null: there was none. */
  readonly lookedAt: number | null;
  /** When its owner last saw a change. */
  readonly updatedAt: number;
}

/** Stores looks and gives the leases back, with one statement. Rows that others have claimed since stay as they are. */
export async function storeLooks(
  { kysely }: OpenDatabase,
  looks: readonly Looked[],
): Promise<void> {
  if (looks.length === 0) return;
  const values = looks.map(
    ({ row, state, members, failedLooks, dueAt, lookedAt, updatedAt }) =>
      sql`(cast(${row.id} as text), cast(${row.fence} as bigint), cast(${state} as text),
        cast(${JSON.stringify(members)} as text), cast(${failedLooks} as bigint), cast(${dueAt} as bigint),
        cast(${lookedAt} as bigint), cast(${updatedAt} as bigint))`,
  );
  await sql`
    with given (id, fence, state, members, failed_looks, due_at, looked_at, updated_at) as (
      values ${sql.join(values)}
    )
    update tasks set state = given.state, members = given.members, failed_looks = given.failed_looks,
      due_at = given.due_at, looked_at = given.looked_at, updated_at = given.updated_at,
      lease_owner = null, lease_until = null
    from given
    where tasks.id = given.id and tasks.fence = given.fence and tasks.ended_at is null`.execute(
    kysely,
  );
}
