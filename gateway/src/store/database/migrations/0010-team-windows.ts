import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnTypes } from './column-types.ts';

/** The day of a team's budgets that was open when its time zone changed, and the zone in which it ends. */
export function teamWindows({ text }: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      // One at a time: SQLite takes no more.
      await db.schema.alterTable('teams').addColumn('open_window', text).execute();
      await db.schema.alterTable('teams').addColumn('open_window_zone', text).execute();
    },
  };
}
