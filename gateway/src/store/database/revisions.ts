import { sql, type Kysely, type Transaction } from 'kysely';
import { isPostgres } from './expressions.ts';
import { changesChannel } from './listening.ts';
import { lastNumber } from './migrations/index.ts';
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

export interface Revisions {
  /** Of the latest change to anything that gateways hold in memory. */
  readonly revision: number;
  /** Whether a newer program has changed the tables so that this one must not write any more. */
  readonly isOutdated: boolean;
}

/** One cheap query for what every node polls. */
export async function readRevisions(kysely: Kysely<Database>): Promise<Revisions> {
  const rows = await kysely
    .selectFrom('revisions')
    .select(['name', 'value'])
    .where('name', 'in', ['global', oldestWriter])
    .execute();
  const revision = rows.find(({ name }) => name === 'global')?.value;
  if (revision === undefined) throw new Error('the database has lost its counter of changes');
  const oldest = rows.find(({ name }) => name === oldestWriter)?.value ?? 0;
  return { revision, isOutdated: oldest > ownNumber };
}

/** Its value is the number of the oldest step whose programs may still write; absent: all may. */
const oldestWriter = 'oldest-writer';
const ownNumber = lastNumber();

/** The number of the oldest step whose programs may still write; 0: all may. */
export async function oldestWriterOf(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ oldest: number }>`select ${selectOldestWriter} as oldest`.execute(
    db,
  );
  return rows[0]?.oldest ?? 0;
}

/** As `oldestWriterOf`, for a query that reads something else too. */
export const selectOldestWriter = sql<number>`
  coalesce((select value from revisions where name = ${oldestWriter}), 0)`;

/**
 * Asked in a transaction that writes, it holds until its end, because a step that breaks waits for it.
 * @param oldest see `oldestWriterOf`
 * @throws Error if a newer program has changed the tables so that this one must not write any more.
 */
export function assertMayWrite(oldest: number): void {
  if (oldest > ownNumber) throw new Error('the database needs a newer version of sluice');
}

/**
 * From the end of this transaction on, programs that do not know the step must not write. Call it first in the
 * transaction: writers that have read the tables' state before are waited for, and those that come later wait.
 */
export async function excludeOlderPrograms(trx: Kysely<Database>, step: number): Promise<void> {
  const isOnPostgres = isPostgres(trx);
  if (isOnPostgres) await sql`lock table revisions in access exclusive mode`.execute(trx);
  await sql`
    insert into revisions (name, value) values (${oldestWriter}, ${step})
    on conflict (name) do update set value = excluded.value
    where revisions.value < excluded.value`.execute(trx);
  if (isOnPostgres) await sql`select pg_notify(${changesChannel}, '')`.execute(trx);
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
