import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createTable, type ColumnTypes } from './column-types.ts';

/** Who serves now, and who was last seen with a journal that was not empty. */
export function nodes(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = addColumns(createTable(db, 'nodes', types), types.text, ['id']);
      await addColumns(table, types.integer, ['started_at', 'seen_at', 'journal_depth'])
        .addPrimaryKeyConstraint('nodes_pk', ['id'])
        .execute();
    },
  };
}
