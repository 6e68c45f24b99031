import { CompiledQuery, type Transaction } from 'kysely';
import type { Database } from '#database/index.ts';
import { isPostgres } from '#database/expressions.ts';

/**
 * Rows per statement. SQLite repeats a few prepared statements: from 32 rows on, the overhead of a statement no longer
 * matters. PostgreSQL gets as many rows as its limit of 65 535 parameters allows.
 */
const rowsPerStatement = { sqlite: 32, postgres: 1_000 } as const;
type Dialect = keyof typeof rowsPerStatement;

export interface BulkInsert {
  readonly table: keyof Database;
  /** At most 60. */
  readonly columns: readonly string[];
  /** The text after the values: `on conflict …`, `returning …`. */
  readonly end: string;
}

/**
 * Inserts rows with many rows per statement; returns their results. Kysely's own builder would cost more than the
 * insertion itself.
 */
export async function bulkInsert<Returned>(
  trx: Transaction<Database>,
  insert: BulkInsert,
  rows: readonly (readonly unknown[])[],
): Promise<Returned[]> {
  const dialect = isPostgres(trx) ? 'postgres' : 'sqlite';
  const size = rowsPerStatement[dialect];
  const fullCount = rows.length - (rows.length % size);
  const chunks: (readonly (readonly unknown[])[])[] = [];
  for (let at = 0; at < fullCount; at += size) chunks.push(rows.slice(at, at + size));
  if (dialect === 'sqlite') for (const row of rows.slice(fullCount)) chunks.push([row]);
  else if (fullCount < rows.length) chunks.push(rows.slice(fullCount));

  const returnedRows: Returned[] = [];
  for (const chunk of chunks) {
    const text = statement(dialect, insert, chunk.length);
    const query = CompiledQuery.raw(text, chunk.flat());
    for (const row of (await trx.executeQuery<Returned>(query)).rows) returnedRows.push(row);
  }
  return returnedRows;
}

/** The texts of whole statements; the driver finds the compiled statement by its text. */
const statements = new WeakMap<BulkInsert, Map<number, string>>();

function statement(dialect: Dialect, insert: BulkInsert, rows: number): string {
  let texts = statements.get(insert);
  if (texts === undefined) statements.set(insert, (texts = new Map<number, string>()));
  // The two dialects have different parameters.
  const key = dialect === 'sqlite' ? rows : -rows;
  let text = texts.get(key);
  if (text === undefined) texts.set(key, (text = build(dialect, insert, rows)));
  return text;
}

function build(dialect: Dialect, { table, columns, end }: BulkInsert, rows: number): string {
  const width = columns.length;
  const values = Array.from({ length: rows }, (_, row) => {
    const places = columns.map((_, column) =>
      dialect === 'sqlite' ? '?' : `$${row * width + column + 1}`,
    );
    return `(${places.join(', ')})`;
  });
  return `insert into ${table} (${columns.join(', ')}) values ${values.join(', ')} ${end}`;
}
