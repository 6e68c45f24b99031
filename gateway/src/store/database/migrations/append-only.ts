import { sql, type Kysely } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

const all = ['update', 'delete'] as const;

/** Makes the database itself refuse to change or remove rows of a table, whoever asks. */
export async function refuseChanges(
  db: Kysely<unknown>,
  table: string,
  types: ColumnTypes,
  changes: readonly (typeof all)[number][] = all,
): Promise<void> {
  const name = sql.table(table);
  const message = sql.lit(`${table} is append-only`);
  if (types.tableEnd === 'strict') {
    for (const change of changes) {
      await sql`
        create trigger ${sql.id(`${table}_no_${change}`)} before ${sql.raw(change)} on ${name}
        begin select raise(abort, ${message}); end`.execute(db);
    }
    return;
  }
  const refused = changes.includes('delete') ? [...changes, 'truncate'] : changes;
  const refuse = sql.id(`refuse_${table}`);
  await sql`
    create function ${refuse}() returns trigger language plpgsql as
    ${sql.lit(`begin raise exception '${table} is append-only'; end`)}`.execute(db);
  await sql`
    create trigger ${sql.id(`${table}_append_only`)} before ${sql.raw(refused.join(' or '))} on ${name}
    for each statement execute function ${refuse}()`.execute(db);
}
