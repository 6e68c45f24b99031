import type { OpenDatabase, TaskResultTable } from '#database/index.ts';
import { isFree, leaseEnd, leaseFor } from '#tasks/index.ts';
import type { KeptFile } from './files.ts';

/** A row, with its JSON read. */
export interface ResultRow extends Omit<TaskResultTable, 'files'> {
  readonly files: readonly KeptFile[];
}

const readResult = (row: TaskResultTable): ResultRow => ({
  ...row,
  files: JSON.parse(row.files) as readonly KeptFile[],
});

/** In the transaction that ends its task. @param now Unix milliseconds */
export async function insertResult(
  trx: OpenDatabase['kysely'],
  task: string,
  now: number,
): Promise<void> {
  const lease = { lease_owner: null, lease_until: null, fence: 0 };
  await trx
    .insertInto('task_results')
    .values({
      task,
      created_at: now,
      due_at: now,
      tries: 0,
      files: '[]',
      expires_at: null,
      ...lease,
    })
    .execute();
}

export interface ResultClaim {
  readonly owner: string;
  /** Unix milliseconds. */
  readonly now: number;
  readonly most: number;
}

/** Leases what is due, so that no other node copies or removes it. */
export async function claimResults(
  { kysely, dialect }: OpenDatabase,
  { owner, now, most }: ResultClaim,
): Promise<ResultRow[]> {
  let dueResults = kysely
    .selectFrom('task_results')
    .select('task')
    .where('due_at', '<=', now)
    .where(isFree(dialect))
    .orderBy('due_at')
    .limit(most);
  if (dialect === 'postgres') dueResults = dueResults.forUpdate().skipLocked();
  const rows = await kysely
    .with('due', () => dueResults)
    .updateTable('task_results')
    .set((eb) => leaseFor(owner, dialect, eb('fence', '+', 1)))
    .where('task', 'in', (eb) => eb.selectFrom('due').select('due.task'))
    .returningAll()
    .execute();
  return rows.map(readResult);
}

type Claimed = Pick<ResultRow, 'task' | 'fence'>;

/** @returns false: another node has leased it since */
export async function renewResult(
  { kysely, dialect }: OpenDatabase,
  { task, fence }: Claimed,
): Promise<boolean> {
  const { numUpdatedRows } = await kysely
    .updateTable('task_results')
    .set({ lease_until: leaseEnd(dialect) })
    .where('task', '=', task)
    .where('fence', '=', fence)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** What a step leaves in a row; times in Unix milliseconds. */
export interface ResultStep {
  readonly files: readonly KeptFile[];
  readonly dueAt: number;
  readonly tries: number;
  /** When the links end; null: it is not copied yet. */
  readonly expiresAt: number | null;
}

/** Stores a step and gives the lease back. @returns false: another node has leased it since */
export async function storeResult(
  { kysely }: OpenDatabase,
  { task, fence }: Claimed,
  { files, dueAt, tries, expiresAt }: ResultStep,
): Promise<boolean> {
  const { numUpdatedRows } = await kysely
    .updateTable('task_results')
    .set({
      files: JSON.stringify(files),
      due_at: dueAt,
      tries,
      expires_at: expiresAt,
      lease_owner: null,
      lease_until: null,
    })
    .where('task', '=', task)
    .where('fence', '=', fence)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** When all of its files are gone. */
export async function deleteResult(
  { kysely }: OpenDatabase,
  { task, fence }: Claimed,
): Promise<void> {
  await kysely
    .deleteFrom('task_results')
    .where('task', '=', task)
    .where('fence', '=', fence)
    .execute();
}

/** Gives back at once all leases that the node has. */
export async function giveResultsBack({ kysely }: OpenDatabase, owner: string): Promise<void> {
  await kysely
    .updateTable('task_results')
    .set({ lease_owner: null, lease_until: null })
    .where('lease_owner', '=', owner)
    .execute();
}

/** The tasks among these whose files are all copied. */
export async function readCopied(
  { kysely }: OpenDatabase,
  tasks: readonly string[],
): Promise<ReadonlyMap<string, ResultRow>> {
  const rows = await kysely
    .selectFrom('task_results')
    .selectAll()
    .where('task', 'in', tasks)
    .where('expires_at', 'is not', null)
    .execute();
  return new Map(rows.map((row) => [row.task, readResult(row)]));
}
