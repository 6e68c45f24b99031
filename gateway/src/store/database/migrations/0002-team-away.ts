import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds what a team may spend without a lease while the database is unreachable. */
export function teamAway(dialect: 'sqlite' | 'postgres'): Migration {
  const type = dialect === 'sqlite' ? 'integer' : 'bigint';
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('teams').addColumn('unleased_most', type).execute();
    },
  };
}
