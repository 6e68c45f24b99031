import type { Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';

/** The newest revision among the rows of the catalogue; 0 if there are none. */
export async function catalogueRevision(db: Kysely<Database>): Promise<number> {
  const rows = await db
    .selectFrom('groups')
    .select((row) => row.fn.max('revision').as('revision'))
    .unionAll(db.selectFrom('channels').select((row) => row.fn.max('revision').as('revision')))
    .unionAll(db.selectFrom('models').select((row) => row.fn.max('revision').as('revision')))
    .unionAll(db.selectFrom('aliases').select((row) => row.fn.max('revision').as('revision')))
    .execute();
  return Math.max(0, ...rows.map((row) => row.revision ?? 0));
}
