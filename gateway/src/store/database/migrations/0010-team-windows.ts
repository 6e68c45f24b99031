import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnTypes } from './column-types.ts';

/** The budget day that was open when a team's time zone changed, and the zone in which it ends. */
export function teamWindows({ text }: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      // One column per statement: SQLite accepts no more.
      await db.schema.alterTable('teams').addColumn('open_window', text).execute();
      await db.schema.alterTable('teams').addColumn('open_window_zone', text).execute();
    },
  };
}
