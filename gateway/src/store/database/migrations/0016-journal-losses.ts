import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createTable, type ColumnTypes } from './column-types.ts';

/** Usage records that were acknowledged and then missing from a node's journal. */
export function journalLosses(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      const table = addColumns(createTable(db, 'journal_losses', types), types.text, [
        'node',
        'reason',
      ]);
      await addColumns(table, types.integer, [
        'first_record',
        'missing',
        'found_at',
        'acknowledged_at?',
      ])
        .addPrimaryKeyConstraint('journal_losses_pk', ['node', 'first_record', 'missing'])
        .execute();
    },
  };
}
