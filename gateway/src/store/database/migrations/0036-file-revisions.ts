import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createTable, type ColumnTypes } from './column-types.ts';

/** Which configuration files were in force, and which node has had which of them. */
export function fileRevisions(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = addColumns(createTable(db, 'file_revisions', types), types.text, [
        'fingerprint',
        'node',
      ]);
      await addColumns(table, types.integer, ['number', 'time'])
        .addPrimaryKeyConstraint('file_revisions_pk', ['fingerprint', 'node'])
        .execute();
    },
  };
}
