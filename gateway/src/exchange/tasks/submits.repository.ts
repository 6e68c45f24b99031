import type { MovedHold } from '#billing/index.ts';
import { commitDurably, type OpenDatabase, type TaskTable } from '#database/index.ts';
import { holdForTask } from '#leases/index.ts';
import { leaseEnd } from './lease.repository.ts';

/** What of a row its creation sets. */
export type NewRow = Pick<
  TaskTable,
  | 'id'
  | 'protocol'
  | 'request_id'
  | 'time'
  | 'key_id'
  | 'user_id'
  | 'team_id'
  | 'group_name'
  | 'user_agent'
  | 'model'
  | 'demand'
  | 'asked'
  | 'terms'
  | 'held'
  | 'created_at'
>;

/** A row as its creation leaves it, without its lease. */
export function startOf(row: NewRow): Omit<TaskTable, 'lease_owner' | 'lease_until'> {
  return {
    ...row,
    state: 'submitting',
    failure: null,
    members: '{}',
    quantity: null,
    upstream_id: null,
    channel: null,
    channel_id: null,
    upstream_model: null,
    access: null,
    attempts: '[]',
    accepted_at: null,
    looked_at: null,
    updated_at: row.created_at,
    ended_at: null,
    due_at: row.created_at,
    fence: 1,
    failed_looks: 0,
    late_looks: 0,
    lost_quantity: null,
    hidden: 0,
  };
}

/**
 * Makes the row of a task that is about to be submitted, with its hold.
 * @param owner the node that submits it
 * @param onCommit called when only the commit is left
 */
export async function insertTask(
  { kysely, dialect }: OpenDatabase,
  row: NewRow,
  movedHold: MovedHold | null,
  owner: string,
  onCommit: () => void,
): Promise<void> {
  await kysely.transaction().execute(async (trx) => {
    await commitDurably(trx, dialect);
    await trx
      .insertInto('tasks')
      .values({
        ...startOf(row),
        lease_owner: owner,
        lease_until: leaseEnd(dialect),
      })
      .execute();
    if (movedHold !== null) await holdForTask(trx, movedHold);
    onCommit();
  });
}

/** What of a row the answer to its submit sets. */
export type AcceptedRow = Pick<
  TaskTable,
  'upstream_id' | 'channel' | 'channel_id' | 'upstream_model' | 'access' | 'attempts' | 'due_at'
> & { readonly accepted_at: number };

/**
 * Stores that an upstream has accepted a task. Storing it twice is harmless.
 * @returns whether it is stored; false: the task was given up meanwhile
 */
export async function storeAccepted(
  { kysely, dialect }: OpenDatabase,
  id: string,
  acceptedRow: AcceptedRow,
): Promise<boolean> {
  return kysely.transaction().execute(async (trx) => {
    await commitDurably(trx, dialect);
    await trx
      .updateTable('tasks')
      .set({
        ...acceptedRow,
        state: 'queued',
        updated_at: acceptedRow.accepted_at,
        lease_owner: null,
        lease_until: null,
      })
      .where('id', '=', id)
      .where('state', '=', 'submitting')
      .where('fence', '=', 1)
      .execute();
    const row = await trx
      .selectFrom('tasks')
      .select('accepted_at')
      .where('id', '=', id)
      .executeTakeFirst();
    return row !== undefined && row.accepted_at !== null;
  });
}

/** What of a row an uncertain response to its submit sets. */
export type UncertainRow = Pick<TaskTable, 'failure' | 'attempts' | 'due_at'>;

/** Records that it is unknown whether an upstream has accepted a task. It is given up when it is due. */
export async function storeUncertain(
  { kysely }: OpenDatabase,
  id: string,
  uncertain: UncertainRow,
): Promise<void> {
  await kysely
    .updateTable('tasks')
    .set({ ...uncertain, lease_owner: null, lease_until: null })
    .where('id', '=', id)
    .where('state', '=', 'submitting')
    .where('fence', '=', 1)
    .execute();
}

/** Keeps other nodes from giving up tasks that this one is submitting. */
export async function renewSubmits(
  { kysely, dialect }: OpenDatabase,
  ids: readonly string[],
  owner: string,
): Promise<void> {
  await kysely
    .updateTable('tasks')
    .set({ lease_until: leaseEnd(dialect) })
    .where('id', 'in', ids)
    .where('state', '=', 'submitting')
    .where('lease_owner', '=', owner)
    .execute();
}
