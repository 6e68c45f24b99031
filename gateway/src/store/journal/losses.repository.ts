import type { Transaction } from 'kysely';
import type { Database } from '#database/index.ts';
import type { Loss } from './read-on.ts';

/**
 * Notes that records of a node are missing. The same loss found again changes nothing.
 * @param now Unix milliseconds
 */
export async function recordLosses(
  trx: Transaction<Database>,
  node: string,
  losses: readonly Loss[],
  now: number,
): Promise<void> {
  const rows = losses.map(({ first, missing, reason }) => ({
    node,
    first_record: first,
    missing,
    reason,
    found_at: now,
  }));
  await trx
    .insertInto('journal_losses')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
