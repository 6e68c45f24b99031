import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { typesOf } from './add-tables.ts';

/** Adds the links with which people set a first password. */
export function invitations(dialect: 'sqlite' | 'postgres'): Migration {
  const { text, integer } = typesOf[dialect];
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('users').addColumn('invite_hash', text).execute();
      await db.schema.alterTable('users').addColumn('invited_until', integer).execute();
      await db.schema
        .createIndex('users_invite_hash')
        .on('users')
        .column('invite_hash')
        .unique()
        .execute();
    },
  };
}
