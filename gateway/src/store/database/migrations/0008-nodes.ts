import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createTable, type ColumnTypes } from './column-types.ts';

/** Running nodes, and nodes that were last seen with a non-empty journal. */
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
