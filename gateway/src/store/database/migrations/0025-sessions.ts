import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';

/** People who have signed in to the console. */
export function sessions(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = addColumns(createTable(db, 'sessions', types), types.text, [
        'id',
        'user_id',
        'role',
        'address?',
        'user_agent?',
      ]);
      await addColumns(table, types.integer, ['created_at', 'seen_at'])
        .addPrimaryKeyConstraint('sessions_pk', ['id'])
        .execute();
      await createIndexes(db, 'sessions', [['user_id'], ['created_at']]);
    },
  };
}
