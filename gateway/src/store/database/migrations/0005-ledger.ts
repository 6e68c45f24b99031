import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addColumns, createIndexes, createTable, type ColumnTypes } from './column-types.ts';
import { refuseChanges } from './append-only.ts';

/** The books: append-only entries, totals beside them, and the charge of each usage row. */
export function ledger(types: ColumnTypes): Migration {
  const { text, integer } = types;
  return {
    async up(db: Kysely<unknown>) {
      let entries = createTable(db, 'ledger_entries', types);
      entries = addColumns(entries, text, ['transaction_id', 'account', 'kind']);
      entries = addColumns(entries, text, ['actor?', 'reason?']);
      await addColumns(entries, integer, ['amount', 'time'])
        .addPrimaryKeyConstraint('ledger_entries_pk', ['transaction_id', 'account'])
        .execute();
      await createIndexes(db, 'ledger_entries', [['account', 'time']]);
      await db.schema
        .createIndex('ledger_entries_funding')
        .on('ledger_entries')
        .columns(['account', 'amount'])
        .where(sql.ref('kind'), '<>', sql.lit('usage'))
        .execute();
      await refuseChanges(db, 'ledger_entries', types);

      const spent = addColumns(createTable(db, 'spent_totals', types), text, ['meter']);
      await addColumns(spent, integer, ['spent'])
        .addPrimaryKeyConstraint('spent_totals_pk', ['meter'])
        .execute();
      const removed = addColumns(createTable(db, 'removed_usage', types), text, ['name']);
      await addColumns(removed, integer, ['cost'])
        .addPrimaryKeyConstraint('removed_usage_pk', ['name'])
        .execute();

      await extendUsage(db, types);
      await openAccounts(db);
    },
  };
}

async function extendUsage(db: Kysely<unknown>, { text, integer }: ColumnTypes): Promise<void> {
  const columns = [
    ...(['held', 'overshoot'] as const).map((name) => [name, integer] as const),
    ...(['payer', 'price_version', 'multiplier', 'budget_window', 'posting'] as const).map(
      (name) => [name, text] as const,
    ),
  ];
  // One column per statement: SQLite accepts no more.
  for (const [name, type] of columns) {
    await db.schema.alterTable('usage').addColumn(name, type).execute();
  }
  await db.schema
    .createIndex('usage_by_channel_time')
    .on('usage')
    .columns(['channel', 'time'])
    .where('channel', 'is not', null)
    .execute();
  await db.schema
    .createIndex('usage_by_posting')
    .on('usage')
    .columns(['posting'])
    .where('posting', 'is not', null)
    .execute();
}

/** Users and teams from before the ledger get the opening entry that they would have got at their creation. */
async function openAccounts(db: Kysely<unknown>): Promise<void> {
  for (const [table, kind] of [
    ['users', 'user'],
    ['teams', 'team'],
  ] as const) {
    const account = sql`${sql.lit(`${kind}:`)} || id`;
    for (const [side, amount] of [
      [account, sql`opening_credit`],
      [sql.lit('funding'), sql`-opening_credit`],
    ] as const) {
      await sql`
        insert into ledger_entries (transaction_id, account, amount, kind, actor, reason, time)
        select 'opening:' || ${account}, ${side}, ${amount}, 'opening', owner, null, created_at
        from ${sql.table(table)} where opening_credit <> 0`.execute(db);
    }
  }
}
