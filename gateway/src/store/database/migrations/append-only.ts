import { sql, type Kysely } from 'kysely';
import type { ColumnTypes } from './column-types.ts';

/** Makes the database itself refuse to change or remove rows of a table, whoever asks. */
export async function refuseChanges(
  db: Kysely<unknown>,
  table: string,
  types: ColumnTypes,
): Promise<void> {
  const name = sql.table(table);
  const message = sql.lit(`${table} is append-only`);
  if (types.tableEnd === 'strict') {
    const changes = { update: sql`update`, delete: sql`delete` };
    for (const [change, keyword] of Object.entries(changes)) {
      await sql`
        create trigger ${sql.id(`${table}_no_${change}`)} before ${keyword} on ${name}
        begin select raise(abort, ${message}); end`.execute(db);
    }
    return;
  }
  const refuse = sql.id(`refuse_${table}`);
  await sql`
    create function ${refuse}() returns trigger language plpgsql as
    ${sql.lit(`begin raise exception '${table} is append-only'; end`)}`.execute(db);
  await sql`
    create trigger ${sql.id(`${table}_append_only`)} before update or delete or truncate on ${name}
    for each statement execute function ${refuse}()`.execute(db);
}
