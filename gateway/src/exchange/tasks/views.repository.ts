import type { Kysely } from 'kysely';
import type { Database, OpenDatabase } from '#database/index.ts';
import { readRow, type TaskRow } from './task-row.ts';
import type { TaskOwner, TaskQuery } from './tasks.ts';

/** The owner's task. Null: there is none, or he has removed it, or no upstream has accepted it. */
export async function readTask(
  { kysely }: OpenDatabase,
  owner: TaskOwner,
  id: string,
): Promise<TaskRow | null> {
  const row = await shownTo(kysely, owner).where('id', '=', id).selectAll().executeTakeFirst();
  return row === undefined ? null : readRow(row);
}

/** A page of the owner's tasks, the newest first, and how many there are on all pages. */
export async function readTasks(
  { kysely }: OpenDatabase,
  owner: TaskOwner,
  { pageNumber, pageSize, states, model, ids }: TaskQuery,
): Promise<{ readonly total: number; readonly rows: readonly TaskRow[] }> {
  let query = shownTo(kysely, owner);
  // An empty list matches nothing, and is no SQL.
  if (states?.length === 0 || ids?.length === 0) return { total: 0, rows: [] };
  if (states !== null) query = query.where('state', 'in', states);
  if (model !== null) query = query.where('model', '=', model);
  if (ids !== null) query = query.where('id', 'in', ids);
  const { total } = await query
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(pageSize)
    .offset((pageNumber - 1) * pageSize)
    .execute();
  return { total, rows: rows.map(readRow) };
}

/** Hides a task that has ended from its owner. */
export async function hideTask({ kysely }: OpenDatabase, id: string): Promise<void> {
  await kysely
    .updateTable('tasks')
    .set({ hidden: 1 })
    .where('id', '=', id)
    .where('ended_at', 'is not', null)
    .execute();
}

const shownTo = (kysely: Kysely<Database>, { userId, protocol }: TaskOwner) =>
  kysely
    .selectFrom('tasks')
    .where('user_id', '=', userId)
    .where('protocol', '=', protocol)
    .where('accepted_at', 'is not', null)
    .where('hidden', '=', 0);
