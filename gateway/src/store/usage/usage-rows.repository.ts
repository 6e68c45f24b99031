import { sql, type Transaction } from 'kysely';
import type { Database } from '#database/index.ts';
import { isPostgres } from '#database/expressions.ts';
import { bulkInsert, type BulkInsert } from './bulk-insert.repository.ts';
import type { LineValues, UsageLines } from './read-lines.ts';
import { positionOf, usageColumns } from './record-line.ts';

const names = usageColumns.map(({ name }) => name);

/** Inserts usage rows and returns the ids of the new ones. Rows with a cost name `posting`. */
export async function insertUsage(
  trx: Transaction<Database>,
  { rows, text }: UsageLines,
  posting: string,
): Promise<Set<string>> {
  const insertedRows = isPostgres(trx)
    ? await insertText(trx, text, posting)
    : await bulkInsert<{ id: string }>(
        trx,
        usageInsert,
        rows.map((row) => toParameters(row, posting)),
      );
  return new Set(insertedRows.map(({ id }) => id));
}

/** The whole batch as one parameter: the client neither builds nor binds single values. */
async function insertText(
  trx: Transaction<Database>,
  lines: string,
  posting: string,
): Promise<{ id: string }[]> {
  const values = usageColumns.map(({ form, position }) => {
    const value = sql`line ->> ${sql.lit(position)}`;
    return form === 'integer' || form === 'amount' ? sql`(${value})::bigint` : value;
  });
  const cost = sql`(line ->> ${sql.lit(positionOf.cost)})::bigint`;
  const { rows } = await sql<{ id: string }>`
    insert into usage (${sql.join(names.map((name) => sql.ref(name)))}, posting)
    select ${sql.join(values)}, case when ${cost} > 0 then ${posting}::text end
    from jsonb_array_elements(${`[${lines}]`}::text::jsonb) as line
    on conflict (id) do nothing returning id`.execute(trx);
  return rows;
}

/** Half the measured cost of `json_each` over the whole batch, because SQLite looks up each value in the text again. */
const usageInsert: BulkInsert = {
  table: 'usage',
  columns: [...names, 'posting'],
  end: 'on conflict (id) do nothing returning id',
};

function toParameters(line: LineValues, posting: string): unknown[] {
  const row = usageColumns.map(({ form, position }) => {
    const value = line[position];
    return form === 'json' && value !== null ? JSON.stringify(value) : value;
  });
  const cost = line[positionOf.cost];
  row.push(cost === null || cost === '0' ? null : posting);
  return row;
}
