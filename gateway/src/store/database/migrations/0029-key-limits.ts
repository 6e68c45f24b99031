import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, addedColumns, createTable, type ColumnTypes } from './column-types.ts';

/** Who set which limit of a key, and calls that made a secret and may be repeated without making another. */
export function keyLimits(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await addedColumns('keys', { limits_set_by: { type: types.text } }).up(db);
      const table = addColumns(createTable(db, 'repeatable_calls', types), types.text, [
        'user_id',
        'name',
        'digest',
        'object_id',
      ]);
      await addColumns(table, types.integer, ['time'])
        .addPrimaryKeyConstraint('repeatable_calls_pk', ['user_id', 'name'])
        .execute();
    },
  };
}
