import type { Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import type { Check } from './difference.ts';

/** Usage records that are missing from the journals of nodes: what they cost is in no book. */
export async function* checkLosses(kysely: Kysely<Database>): Check {
  const rows = await kysely
    .selectFrom('journal_losses')
    .select(['node', 'first_record', 'missing', 'reason'])
    .where('acknowledged_at', 'is', null)
    .orderBy('found_at')
    .orderBy('first_record')
    .execute();
  for (const { node, first_record: first, missing, reason } of rows) {
    yield {
      check: 'journal',
      subject: node,
      expected: `${missing} usage ${missing === 1 ? 'record' : 'records'} from number ${first} on`,
      found: reason === 'damaged' ? 'damage' : 'none',
    };
  }
  return rows.length;
}

/**
 * Notes that the operator knows of every loss so far. Returns the number of their records.
 * @param now Unix milliseconds
 */
export async function acknowledgeLosses(kysely: Kysely<Database>, now: number): Promise<number> {
  const rows = await kysely
    .updateTable('journal_losses')
    .set({ acknowledged_at: now })
    .where('acknowledged_at', 'is', null)
    .returning('missing')
    .execute();
  return rows.reduce((sum, { missing }) => sum + missing, 0);
}
