import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { addedColumns, type ColumnTypes } from './column-types.ts';

/**
 * Keeps the sum of an account's credits in the row of its balance's meter. The database does so itself, in the transaction
 * of the entry, whoever writes it.
 */
export function keptCredits(types: ColumnTypes): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await addedColumns('spent_totals', { credited: { type: types.integer, before: 0 } }).up(db);
      await sql`
        insert into spent_totals (meter, spent, credited)
        select account || ':balance', 0, sum(amount) from ledger_entries
        where kind <> 'usage' and substr(account, 1, 5) in ('user:', 'team:')
        group by account
        on conflict (meter) do update set credited = excluded.credited`.execute(db);
      const isCredit = sql`new.kind <> 'usage' and substr(new.account, 1, 5) in ('user:', 'team:')`;
      const keep = sql`
        insert into spent_totals (meter, spent, credited)
        values (new.account || ':balance', 0, new.amount)
        on conflict (meter) do update set
          credited = spent_totals.credited + excluded.credited, version = spent_totals.version + 1`;
      if (types.tableEnd === 'strict') {
        await sql`
          create trigger ledger_entries_credits after insert on ledger_entries when ${isCredit}
          begin ${keep}; end`.execute(db);
        return;
      }
      await sql`
        create function keep_credits() returns trigger language plpgsql as
        $$ begin ${keep}; return null; end $$`.execute(db);
      await sql`
        create trigger ledger_entries_credits after insert on ledger_entries
        for each row when (${isCredit}) execute function keep_credits()`.execute(db);
    },
  };
}
