import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnTypes } from './column-types.ts';

/** The number of identical refusals that a usage row stands for. */
export function refusalCounts({ integer }: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('usage')
        .addColumn('count', integer, (column) => column.notNull().defaultTo(1))
        .execute();
    },
  };
}
