import type { Transaction } from 'kysely';
import {
  commitDurably,
  type Database,
  type OpenDatabase,
  type TaskTable,
} from '#database/index.ts';
import { releaseTaskHold, type TaskHold } from '#leases/index.ts';
import {
  linesOf,
  recordUsage,
  withoutWords,
  type AttemptRecord,
  type ExchangeRecord,
} from '#usage/index.ts';
import type { Results } from './results.ts';
import type { TaskRow } from './task-row.ts';

/** What of a row its end sets. */
export type EndedRow = Pick<
  TaskTable,
  'state' | 'failure' | 'members' | 'quantity' | 'attempts' | 'due_at'
> & { readonly ended_at: number };

/**
 * Ends a task: its state, its usage row with what follows from it, and its hold, in one transaction.
 * @param results the copier of what it made; null: none
 * @returns false: it had ended, or another node has claimed it since; nothing is changed then
 */
export async function storeEnd(
  { kysely, dialect }: OpenDatabase,
  row: Pick<TaskRow, 'id' | 'fence'>,
  endedRow: EndedRow,
  record: ExchangeRecord,
  hold: TaskHold | null,
  results: Pick<Results, 'plan'> | null,
): Promise<boolean> {
  return kysely.transaction().execute(async (trx) => {
    await commitDurably(trx, dialect);
    const { numUpdatedRows } = await trx
      .updateTable('tasks')
      .set({
        ...endedRow,
        updated_at: endedRow.ended_at,
        failed_looks: 0,
        lease_owner: null,
        lease_until: null,
      })
      .where('id', '=', row.id)
      .where('fence', '=', row.fence)
      .where('ended_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    await recordUsage(trx, linesOf([record]));
    if (hold !== null) await releaseTaskHold(trx, hold);
    await results?.plan(trx, row.id, endedRow.ended_at);
    return true;
  });
}

/** What a look after the end of a task leaves. */
export interface LateLook {
  readonly lateLooks: number;
  /** Unix milliseconds; null: no further one. */
  readonly dueAt: number | null;
  /** What was made too late, in milliseconds or tokens; null: nothing. */
  readonly lostQuantity: number | null;
  /** For the usage row: what the operator pays for. Null: as they are. */
  readonly attempts: readonly AttemptRecord[] | null;
}

/** @returns false: another node has claimed the row since */
export async function storeLateLook(
  { kysely }: OpenDatabase,
  row: Pick<TaskRow, 'id' | 'fence' | 'request_id'>,
  { lateLooks, dueAt, lostQuantity, attempts }: LateLook,
): Promise<boolean> {
  return kysely.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('tasks')
      .set({
        late_looks: lateLooks,
        due_at: dueAt,
        lost_quantity: lostQuantity,
        lease_owner: null,
        lease_until: null,
      })
      .where('id', '=', row.id)
      .where('fence', '=', row.fence)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    if (attempts !== null) await storeAttempts(trx, row, attempts);
    return true;
  });
}

async function storeAttempts(
  trx: Transaction<Database>,
  { id, request_id }: Pick<TaskRow, 'id' | 'request_id'>,
  attempts: readonly AttemptRecord[],
): Promise<void> {
  const text = JSON.stringify(attempts.map(withoutWords));
  await trx.updateTable('usage').set({ attempts: text }).where('id', '=', request_id).execute();
  await trx.updateTable('tasks').set({ attempts: text }).where('id', '=', id).execute();
}
