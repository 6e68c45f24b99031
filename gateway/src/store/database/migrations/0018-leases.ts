import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import {
  addColumns,
  addedColumns,
  createIndexes,
  createTable,
  type AnyTables,
  type ColumnTypes,
} from './column-types.ts';

/** Money that nodes have leased from the limits. */
export function leases(types: ColumnTypes): Migration {
  const { text, integer } = types;
  return {
    async up(db: Kysely<unknown>) {
      await addedColumns('spent_totals', {
        leased: { type: integer, before: 0 },
        held: { type: integer, before: 0 },
        recall: { type: integer, before: 0 },
        version: { type: integer, before: 0 },
        ticket_life: { type: text },
        ticket_id: { type: text },
        ticket_until: { type: integer },
        short_life: { type: text },
        short_id: { type: text },
      }).up(db);

      const rows = addColumns(createTable(db, 'leases', types), text, ['meter', 'life']);
      await addColumns(rows, integer, ['drawn', 'settled', 'answered'])
        .addPrimaryKeyConstraint('leases_pk', ['meter', 'life'])
        .execute();
      await createIndexes(db, 'leases', [['life', 'meter']]);

      const lives = addColumns(createTable(db, 'lives', types), text, ['id', 'node']);
      await addColumns(lives, integer, ['number', 'generation', 'seen_at', 'closed'])
        .addPrimaryKeyConstraint('lives_pk', ['id'])
        .execute();
      await createIndexes(db, 'lives', [['closed']]);

      await addColumns(createTable(db, 'lease_generation', types), integer, [
        'number',
        'since',
      ]).execute();
      await (db as Kysely<AnyTables>)
        .insertInto('lease_generation')
        .values({ number: 0, since: 0 })
        .execute();
    },
  };
}
