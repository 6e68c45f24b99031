import { sql, type Kysely, type Transaction } from 'kysely';
import { isPostgres } from './expressions.ts';
import { changesChannel } from './listening.ts';
import type { Database } from './schema.ts';

/**
 * Takes the next revision number. Every transaction that changes groups, channels, models, aliases, users, teams or
 * keys takes one and writes it into the rows it changes. The counter's row stays locked until the transaction ends, so
 * numbers become visible in order and a poller that has seen N misses nothing. On PostgreSQL the same statement
 * notifies the nodes, which receive it after the commit.
 */
export async function nextRevision(trx: Transaction<Database>): Promise<number> {
  const row = await trx
    .updateTable('revisions')
    .set((expression) => ({ value: expression('value', '+', 1) }))
    .where('name', '=', 'global')
    .returning('value')
    .$if(isPostgres(trx), (query) =>
      query.returning(sql`pg_notify(${changesChannel}, '')`.as('notified')),
    )
    .executeTakeFirstOrThrow();
  return row.value;
}

/** The revision of the latest change to anything that gateways hold in memory. */
export async function currentRevision(kysely: Kysely<Database>): Promise<number> {
  const row = await kysely
    .selectFrom('revisions')
    .select('value')
    .where('name', '=', 'global')
    .executeTakeFirstOrThrow();
  return row.value;
}

const usageRemoved = 'usage-removed-before';

/** Rows of `usage` before this time (Unix milliseconds) may have been removed; 0 if none have been. */
export async function usageRemovedBefore(db: Kysely<Database>): Promise<number> {
  const row = await db
    .selectFrom('revisions')
    .select('value')
    .where('name', '=', usageRemoved)
    .executeTakeFirst();
  return row?.value ?? 0;
}

/** Call it in the transaction that removes rows. @param before Unix milliseconds */
export async function markUsageRemoved(trx: Transaction<Database>, before: number): Promise<void> {
  await sql`
    insert into revisions (name, value) values (${usageRemoved}, ${before})
    on conflict (name) do update set value = excluded.value
    where revisions.value < excluded.value`.execute(trx);
}
