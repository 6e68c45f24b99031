import { sql, type Transaction } from 'kysely';
import type { OpenDatabase } from './open.ts';
import { assertMayWrite, oldestWriterOf, selectOldestWriter } from './revisions.ts';
import type { Database } from './schema.ts';

/**
 * An expression for PostgreSQL. In any statement of a transaction, it makes the commit wait until it is on disk, whatever
 * the server's own setting is; a setting that waits for more is kept. Its value is the setting.
 */
export const waitForDisk = sql<string>`set_config('synchronous_commit',
  case current_setting('synchronous_commit') when 'remote_apply' then 'remote_apply' else 'on' end, true)`;

/**
 * Makes the commit of this transaction wait until it is on disk, whatever the server's own setting: acknowledged rows
 * and credits must survive its crash. A setting that waits for more is kept. SQLite always waits.
 * @returns what keeps the commit from being durable even so, for the operator; null: nothing
 * @throws Error if a newer program has changed the tables so that this one must not write any more.
 */
export async function commitDurably(
  trx: Transaction<Database>,
  dialect: OpenDatabase['dialect'],
): Promise<string | null> {
  if (dialect === 'sqlite') {
    assertMayWrite(await oldestWriterOf(trx));
    return null;
  }
  const { rows } = await sql<{ waits: string; syncs: string; oldest: number }>`
    select current_setting('fsync') as syncs, ${waitForDisk} as waits, ${selectOldestWriter} as oldest`.execute(
    trx,
  );
  const [row] = rows;
  assertMayWrite(row?.oldest ?? 0);
  if (row?.waits !== 'on' && row?.waits !== 'remote_apply') {
    return `synchronous_commit is ${row?.waits}`;
  }
  return row.syncs === 'on' ? null : `fsync is ${row.syncs}`;
}
