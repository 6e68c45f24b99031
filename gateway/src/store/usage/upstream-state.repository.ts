import { sql, type Transaction } from 'kysely';
import type { Database, OpenDatabase } from '#database/index.ts';
import { bulkInsert, type BulkInsert } from './bulk-insert.repository.ts';
import type { LineValues } from './read-lines.ts';
import { positionOf } from './record-line.ts';
import type { StateValues } from './record.ts';

/**
 * Records which owner received which ids from the responses of these rows. An id that is given out again is kept
 * longer.
 */
export async function insertUpstreamState(
  trx: Transaction<Database>,
  rows: readonly LineValues[],
): Promise<void> {
  // By key, because a statement must not meet a row twice; in a fixed order everywhere, so that two nodes that write
  // the same rows never deadlock.
  const rowsByKey = new Map<string, readonly unknown[]>();
  for (const row of rows) addRows(rowsByKey, row);
  if (rowsByKey.size === 0) return;
  const sortedRows = [...rowsByKey].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const values = sortedRows.map(([, row]) => row);
  await bulkInsert(trx, stateInsert, values);
}

function addRows(rowsByKey: Map<string, readonly unknown[]>, row: LineValues): void {
  const state = row[positionOf.upstream_state] as StateValues | null;
  if (state === null) return;
  const [owner, channel, credential, expiresAt, ids] = state;
  const model = row[positionOf.model];
  for (let at = 0; at + 1 < ids.length; at += 2) {
    const id = ids[at]!;
    const values = [id, owner, ids[at + 1], channel, credential, model, expiresAt];
    rowsByKey.set(`${id} ${owner}`, values);
  }
}

const stateInsert: BulkInsert = {
  table: 'upstream_state',
  columns: ['id', 'owner', 'kind', 'channel', 'credential', 'model', 'expires_at'],
  end: `on conflict (id, owner) do update set kind = excluded.kind, channel = excluded.channel,
    credential = excluded.credential, model = excluded.model, expires_at = excluded.expires_at
    where upstream_state.expires_at <= excluded.expires_at`,
};

/** Removes at most `limit` rows that expired before a time (Unix milliseconds) and returns their number. */
export async function removeExpiredState(
  { kysely }: OpenDatabase,
  now: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from upstream_state where (id, owner) in (
      select id, owner from upstream_state where expires_at < ${now} order by expires_at limit ${limit}
    )`.execute(kysely);
  return Number(numAffectedRows ?? 0n);
}
