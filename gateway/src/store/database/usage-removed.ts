import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from './schema.ts';

const name = 'usage-removed-before';

/** Rows of `usage` before this time (Unix milliseconds) may have been removed; 0 if none have been. */
export async function usageRemovedBefore(db: Kysely<Database>): Promise<number> {
  const row = await db
    .selectFrom('revisions')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirst();
  return row?.value ?? 0;
}

/** Call it in the transaction that removes rows. @param before Unix milliseconds */
export async function markUsageRemoved(trx: Transaction<Database>, before: number): Promise<void> {
  await sql`
    insert into revisions (name, value) values (${name}, ${before})
    on conflict (name) do update set value = excluded.value
    where revisions.value < excluded.value`.execute(trx);
}
