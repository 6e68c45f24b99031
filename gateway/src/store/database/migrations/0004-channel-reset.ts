import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { typesOf } from './add-tables.ts';

/** Adds when somebody last ended the pauses of a channel: every node reads it with the channel. */
export function channelReset(dialect: 'sqlite' | 'postgres'): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('channels')
        .addColumn('reset_at', typesOf[dialect].integer)
        .execute();
    },
  };
}
