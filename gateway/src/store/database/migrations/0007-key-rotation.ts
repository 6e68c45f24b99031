import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnTypes } from './column-types.ts';

/** A rotated key's old secret, which stays valid for a while. */
export function keyRotation({ text, integer }: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      // One column per statement: SQLite accepts no more.
      await db.schema.alterTable('keys').addColumn('previous_hash', text).execute();
      await db.schema.alterTable('keys').addColumn('previous_until', integer).execute();
      await db.schema
        .createIndex('keys_previous_hash')
        .unique()
        .on('keys')
        .columns(['previous_hash'])
        .where('previous_hash', 'is not', null)
        .execute();
    },
  };
}
