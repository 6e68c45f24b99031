import { sql } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';
import { assertMayWrite, markUsageRemoved, oldestWriterOf } from '#database/revisions.ts';
import { chargedColumns, chargedOf, meterNames, type ChargedRow } from '#ledger/index.ts';
import { bulkInsert, type BulkInsert } from './bulk-insert.repository.ts';

interface Removed extends ChargedRow {
  readonly cost: bigint | null;
  readonly posting: string | null;
}

/** The most that went wrong in one request, roughly. */
const errorsPerRow = 5;

/**
 * Removes at most `limit` usage rows from before a time (Unix milliseconds), oldest first, and returns their number.
 * Hourly sums, totals and books stay; the cost of removed rows is kept by posting and by meter, so that the books can
 * still be checked against the remaining rows.
 * @throws Error if the database needs a newer program; then nothing is removed.
 */
export function removeOldUsage(
  { kysely }: OpenDatabase,
  before: number,
  limit: number,
): Promise<number> {
  return kysely.transaction().execute(async (trx) => {
    const { rows } = await sql<Removed>`
      delete from usage
      where id in (select id from usage where time < ${before} order by time limit ${limit})
      returning cost, posting, ${sql.join(chargedColumns.map((name) => sql.ref(name)))}`.execute(
      trx,
    );
    await sql`
      delete from usage_errors where (id, attempt) in (
        select id, attempt from usage_errors where time < ${before} order by time
        limit ${limit * errorsPerRow})`.execute(trx);
    await trx.deleteFrom('unfinished_attempts').where('time', '<', before).execute();
    if (rows.length === 0) return 0;
    const carriedSums = [...carry(rows)].toSorted(([a], [b]) => (a < b ? -1 : 1));
    await bulkInsert(trx, removedInsert, carriedSums);
    await markUsageRemoved(trx, before);
    assertMayWrite(await oldestWriterOf(trx));
    return rows.length;
  });
}

function carry(rows: readonly Removed[]): Map<string, bigint> {
  const costs = new Map<string, bigint>();
  for (const row of rows) {
    const { cost, posting } = row;
    const holder = chargedOf(row);
    // A row without a payer was never counted.
    if (cost === null || cost === 0n || holder === null) continue;
    const names = [`${posting} ${holder.account}`, ...meterNames(holder)];
    for (const name of names) costs.set(name, (costs.get(name) ?? 0n) + cost);
  }
  return costs;
}

const removedInsert: BulkInsert = {
  table: 'removed_usage',
  columns: ['name', 'cost'],
  end: 'on conflict (name) do update set cost = removed_usage.cost + excluded.cost',
};
