import { sql } from 'kysely';
import type { OpenDatabase } from '#database/index.ts';

/** Every table of the database with the number of its rows. */
export async function countRows({
  dialect,
  kysely,
}: OpenDatabase): Promise<Readonly<Record<string, number>>> {
  const { rows } =
    dialect === 'sqlite'
      ? await sql<{ name: string }>`select name from sqlite_master where type = 'table'`.execute(
          kysely,
        )
      : await sql<{
          name: string;
        }>`select tablename as name from pg_tables where schemaname = current_schema()`.execute(
          kysely,
        );
  const counts: Record<string, number> = {};
  for (const { name } of rows.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const { rows: found } = await sql<{
      count: number | bigint;
    }>`select count(*) as count from ${sql.table(name)}`.execute(kysely);
    counts[name] = Number(found[0]?.count);
  }
  return counts;
}
