import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createTable, type ColumnTypes } from './column-types.ts';

/** Every price a model ever had. Rows are only added, because receipts refer to them. */
export function prices(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      let table = createTable(db, 'price_versions', types).addColumn('id', types.text, (column) =>
        column.primaryKey().notNull(),
      );
      table = addColumns(table, types.text, ['model', 'price']);
      await addColumns(table, types.integer, ['created_at']).execute();
    },
  };
}
