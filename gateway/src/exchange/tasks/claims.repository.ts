import type { OpenDatabase } from '#database/index.ts';
import { isFree, leaseFor } from './lease.repository.ts';
import { readRow, type TaskRow } from './task-row.ts';

export interface ClaimOptions {
  /** The node that claims. */
  readonly owner: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly most: number;
  /** Ids of channels that this node may not ask now. */
  readonly resting: readonly string[];
  /** Open tasks that are older have expired, whatever their channels do. Unix milliseconds. */
  readonly createdBefore: number;
  /** Whether to claim tasks whose submits seem abandoned, too. */
  readonly submitsToo: boolean;
  /** Tasks that this node is submitting. */
  readonly submitting: readonly string[];
}

/** Leases the rows that are due, the oldest first, so that no other node looks at them. */
export async function claimDue(database: OpenDatabase, options: ClaimOptions): Promise<TaskRow[]> {
  const { kysely, dialect } = database;
  const { owner, now, most, resting, createdBefore, submitsToo, submitting } = options;
  let dueTasks = kysely
    .selectFrom('tasks')
    .select('id')
    .where('due_at', '<=', now)
    .where(isFree(dialect))
    .orderBy('due_at')
    .limit(most);
  if (!submitsToo) dueTasks = dueTasks.where('state', '<>', 'submitting');
  if (submitting.length > 0) dueTasks = dueTasks.where('id', 'not in', submitting);
  if (resting.length > 0) {
    dueTasks = dueTasks.where((eb) =>
      eb.or([
        eb('channel_id', 'is', null),
        eb('channel_id', 'not in', resting),
        eb.and([eb('created_at', '<=', createdBefore), eb('ended_at', 'is', null)]),
      ]),
    );
  }
  if (dialect === 'postgres') dueTasks = dueTasks.forUpdate().skipLocked();
  const rows = await kysely
    // Apart, so that PostgreSQL cannot choose rows more than once for one claim.
    .with('due', () => dueTasks)
    .updateTable('tasks')
    .set((eb) => leaseFor(owner, dialect, eb('fence', '+', 1)))
    .where('id', 'in', (eb) => eb.selectFrom('due').select('due.id'))
    .returningAll()
    .execute();
  return rows.map(readRow);
}

/** Leases one row. Null: it is leased already, or gone. */
export async function claimOne(
  { kysely, dialect }: OpenDatabase,
  id: string,
  owner: string,
): Promise<TaskRow | null> {
  const row = await kysely
    .updateTable('tasks')
    .set((eb) => leaseFor(owner, dialect, eb('fence', '+', 1)))
    .where('id', '=', id)
    .where('ended_at', 'is', null)
    .where(isFree(dialect))
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : readRow(row);
}

/** Gives leases back at once: of these rows, or of all that the node has but for the tasks it is submitting. */
export async function giveBack(
  { kysely }: OpenDatabase,
  owner: string,
  rows: readonly TaskRow[] | null,
): Promise<void> {
  let query = kysely
    .updateTable('tasks')
    .set({ lease_owner: null, lease_until: null })
    .where('lease_owner', '=', owner);
  if (rows === null) query = query.where('state', '<>', 'submitting');
  else
    query = query.where(
      'id',
      'in',
      rows.map(({ id }) => id),
    );
  await query.execute();
}

/**
 * Ends the leases that an earlier process of this node had, so that its tasks need not wait for them.
 * @param except tasks that this process is submitting
 */
export async function takeBack(
  { kysely }: OpenDatabase,
  owner: string,
  except: readonly string[],
): Promise<void> {
  let query = kysely
    .updateTable('tasks')
    .set({ lease_owner: null, lease_until: null })
    .where('lease_owner', '=', owner);
  if (except.length > 0) query = query.where('id', 'not in', except);
  await query.execute();
}

/** When the next look is due on any node, in Unix milliseconds; null: no task waits for one. */
export async function nextDue({ kysely }: OpenDatabase): Promise<number | null> {
  const row = await kysely
    .selectFrom('tasks')
    .select(({ fn }) => fn.min('due_at').as('due'))
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  return row?.due ?? null;
}
