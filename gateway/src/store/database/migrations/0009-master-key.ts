import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createTable, type ColumnTypes } from './column-types.ts';

/** Which master key the database belongs to. At most one row: `id` is always `master`. */
export function masterKey(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = createTable(db, 'master_key', types);
      await addColumns(table, types.text, ['id', 'fingerprint'])
        .addPrimaryKeyConstraint('master_key_pk', ['id'])
        .execute();
    },
  };
}
