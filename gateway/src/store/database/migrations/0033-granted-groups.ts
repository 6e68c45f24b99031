import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addedColumns, type ColumnTypes } from './column-types.ts';

/** The groups that people may give their keys, and members of a team those that act for it. */
export function grantedGroups({ text }: ColumnTypes): Migration {
  const groups = { groups: { type: text, before: '["default"]' } };
  return {
    async up(db: Kysely<unknown>) {
      await addedColumns('users', groups).up(db);
      await addedColumns('teams', groups).up(db);
    },
  };
}
