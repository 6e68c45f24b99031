import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';

/** Copies of what tasks made. */
export function taskResults(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = addColumns(createTable(db, 'task_results', types), types.text, [
        'task',
        'files',
        'lease_owner?',
      ]);
      await addColumns(table, types.integer, [
        'created_at',
        'due_at',
        'lease_until?',
        'fence',
        'tries',
        'expires_at?',
      ])
        .addPrimaryKeyConstraint('task_results_pk', ['task'])
        .execute();
      await createIndexes(db, 'task_results', [['due_at'], ['lease_owner']]);
    },
  };
}
