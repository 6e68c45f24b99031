import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';

/** Which owner received which upstream id. */
export function upstreamState(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = addColumns(createTable(db, 'upstream_state', types), types.text, [
        'id',
        'owner',
        'kind',
        'channel',
        'credential?',
        'model',
      ]);
      await addColumns(table, types.integer, ['expires_at'])
        .addPrimaryKeyConstraint('upstream_state_pk', ['id', 'owner'])
        .execute();
      await createIndexes(db, 'upstream_state', [['expires_at']]);
    },
  };
}
