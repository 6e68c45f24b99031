import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';

/** Requests that were being answered by an upstream when the gateway was killed. */
export function unfinishedAttempts(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = addColumns(createTable(db, 'unfinished_attempts', types), types.text, [
        'id',
        'key_id',
        'user_id',
        'team_id?',
        'model',
        'channel',
      ]);
      await addColumns(table, types.integer, ['attempt', 'time', 'held?'])
        .addPrimaryKeyConstraint('unfinished_attempts_pk', ['id', 'attempt'])
        .execute();
      await createIndexes(db, 'unfinished_attempts', [['time']]);
    },
  };
}
