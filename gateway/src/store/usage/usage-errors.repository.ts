import { sql, type Kysely, type Transaction } from 'kysely';
import type { Database } from '#database/index.ts';
import { errorWord } from './batch-totals.ts';
import { bulkInsert, type BulkInsert } from './bulk-insert.repository.ts';
import type { LineValues } from './read-lines.ts';
import { positionOf } from './record-line.ts';
import type { AttemptRecord, ErrorTexts } from './record.ts';

/** Records what went wrong in the attempts of these rows, and which messages their clients got. */
export async function insertErrors(
  trx: Transaction<Database>,
  rows: readonly LineValues[],
): Promise<void> {
  const values = rows.flatMap(errorsOf);
  if (values.length > 0) await bulkInsert(trx, errorInsert, values);
}

const errorInsert: BulkInsert = {
  table: 'usage_errors',
  columns: ['id', 'attempt', 'time', 'channel', 'error', 'blame', 'status', 'text'],
  end: 'on conflict (id, attempt) do nothing',
};

function errorsOf(row: LineValues): readonly unknown[][] {
  const attempts = row[positionOf.attempts] as readonly AttemptRecord[];
  const [message = null, ...words] = (row[positionOf.error_texts] as ErrorTexts | null) ?? [];
  const id = row[positionOf.id];
  const errors: unknown[][] = [];
  if (message !== null) {
    const [time, error, status] = [positionOf.time, positionOf.error, positionOf.status];
    errors.push([id, 0, row[time], null, row[error] ?? '', null, row[status], message]);
  }
  for (const [at, attempt] of attempts.entries()) {
    const { channel, startedAt, durationMs, blame = null, status } = attempt;
    const error = errorWord(attempt);
    // A client that leaves is no error.
    if (error === '' || error === 'client-left') continue;
    const time = startedAt + durationMs;
    errors.push([id, at + 1, time, channel, error, blame, status, words[at] ?? null]);
  }
  return errors;
}

/**
 * Removes at most `limit` texts of errors from before a time (Unix milliseconds) and returns their number. That
 * something went wrong stays known as long as the row.
 */
export async function removeErrorTexts(
  db: Kysely<Database>,
  before: number,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update usage_errors set text = null where (id, attempt) in (
      select id, attempt from usage_errors
      where text is not null and time < ${before} order by time limit ${limit}
    )`.execute(db);
  return Number(numAffectedRows ?? 0n);
}

/** The kept texts of a request's errors, by the number of the attempt; 0: the message that the client got. */
export async function errorTexts(
  db: Kysely<Database>,
  id: string,
): Promise<ReadonlyMap<number, string>> {
  const rows = await db
    .selectFrom('usage_errors')
    .select(['attempt', 'text'])
    .where('id', '=', id)
    .where('text', 'is not', null)
    .execute();
  return new Map(rows.map(({ attempt, text }) => [attempt, text ?? '']));
}
