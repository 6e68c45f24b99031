import { sql, type Transaction } from 'kysely';
import type { Database, OpenDatabase } from '#database/index.ts';
import { bulkInsert, type BulkInsert } from './bulk-insert.repository.ts';
import { positionOf, type LineValues } from './read-lines.ts';
import { usageColumns } from './record-line.ts';

const names = usageColumns.map(({ name }) => name);

/**
 * Inserts usage rows and gives the ids of those that were not there yet. Rows that cost something name `posting`.
 *
 * @param lines the same rows as text, as they stand in the journal
 */
export async function insertUsage(
  trx: Transaction<Database>,
  dialect: OpenDatabase['dialect'],
  rows: readonly LineValues[],
  lines: string,
  posting: string,
): Promise<Set<string>> {
  const inserted =
    dialect === 'postgres'
      ? await insertText(trx, lines, posting)
      : await bulkInsert<{ id: string }>(
          trx,
          dialect,
          usageInsert,
          rows.map((row) => toParameters(row, posting)),
        );
  return new Set(inserted.map(({ id }) => id));
}

/** The whole batch as one parameter: the client neither builds it nor binds its values. */
async function insertText(
  trx: Transaction<Database>,
  lines: string,
  posting: string,
): Promise<{ id: string }[]> {
  const values = usageColumns.map(({ name, type, position }) => {
    const value = sql`line ->> ${sql.lit(position)}`;
    const typed = type === 'integer' ? sql`(${value})::bigint` : value;
    // Lines of an earlier version have none.
    return name === 'count' ? sql`coalesce(${typed}, 1)` : typed;
  });
  const cost = sql`(line ->> ${sql.lit(positionOf.cost)})::bigint`;
  const { rows } = await sql<{ id: string }>`
    insert into usage (${sql.join(names.map((name) => sql.ref(name)))}, posting)
    select ${sql.join(values)}, case when ${cost} > 0 then ${posting}::text end
    from jsonb_array_elements(${`[${lines}]`}::text::jsonb) as line
    on conflict (id) do nothing returning id`.execute(trx);
  return rows;
}

/** Measured against `json_each` over the whole batch: half the cost, as SQLite looks up each value in the text again. */
const usageInsert: BulkInsert = {
  table: 'usage',
  columns: [...names, 'posting'],
  end: 'on conflict (id) do nothing returning id',
};

function toParameters(line: LineValues, posting: string): unknown[] {
  const row = usageColumns.map(({ type, position }) => {
    const value = line[position];
    return type === 'json' && value !== null ? JSON.stringify(value) : value;
  });
  const cost = line[positionOf.cost];
  row.push(cost === null || cost === '0' ? null : posting);
  return row;
}
