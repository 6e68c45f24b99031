import { sql, type Kysely } from 'kysely';

/** What the database itself sees to, whoever writes. */
export async function addTriggers(
  db: Kysely<unknown>,
  dialect: 'sqlite' | 'postgres',
): Promise<void> {
  await refuseChanges(db, dialect, 'ledger_entries', ['update', 'delete']);
  await refuseChanges(db, dialect, 'audit_log', ['update']);
  await keepCredits(db, dialect);
}

/** The tables in which an erased person is replaced. */
const erasable = ['ledger_entries', 'audit_log'];

/**
 * Runs `work` while rows of the ledger and the audit log may be changed, in this transaction only: nobody else's changes
 * are let through, and they wait for its end.
 */
export async function withChangeableRows<Tables, Result>(
  trx: Kysely<Tables>,
  dialect: 'sqlite' | 'postgres',
  work: () => Promise<Result>,
): Promise<Result> {
  const alter = async (change: 'disable' | 'enable'): Promise<void> => {
    for (const table of erasable) {
      if (dialect === 'postgres') {
        await sql`
          alter table ${sql.table(table)} ${sql.raw(change)} trigger ${sql.id(`${table}_append_only`)}`.execute(
          trx,
        );
      } else if (change === 'disable') {
        await sql`drop trigger ${sql.id(`${table}_no_update`)}`.execute(trx);
      } else {
        await refuseChanges(trx as unknown as Kysely<unknown>, dialect, table, ['update']);
      }
    }
  };
  await alter('disable');
  const result = await work();
  await alter('enable');
  return result;
}

async function refuseChanges(
  db: Kysely<unknown>,
  dialect: 'sqlite' | 'postgres',
  table: string,
  changes: readonly ('update' | 'delete')[],
): Promise<void> {
  const name = sql.table(table);
  const message = sql.lit(`${table} is append-only`);
  if (dialect === 'sqlite') {
    for (const change of changes) {
      await sql`
        create trigger ${sql.id(`${table}_no_${change}`)} before ${sql.raw(change)} on ${name}
        begin select raise(abort, ${message}); end`.execute(db);
    }
    return;
  }
  const refusedEvents = changes.includes('delete') ? [...changes, 'truncate'] : changes;
  const refuse = sql.id(`refuse_${table}`);
  await sql`
    create function ${refuse}() returns trigger language plpgsql as
    ${sql.lit(`begin raise exception '${table} is append-only'; end`)}`.execute(db);
  await sql`
    create trigger ${sql.id(`${table}_append_only`)} before ${sql.raw(refusedEvents.join(' or '))} on ${name}
    for each statement execute function ${refuse}()`.execute(db);
}

/** Keeps the sum of an account's credits in the row of its balance's meter, in the transaction of the entry. */
async function keepCredits(db: Kysely<unknown>, dialect: 'sqlite' | 'postgres'): Promise<void> {
  const isCredit = sql`new.kind <> 'usage' and substr(new.account, 1, 5) in ('user:', 'team:')`;
  const keep = sql`
    insert into spent_totals (meter, spent, credited)
    values (new.account || ':balance', 0, new.amount)
    on conflict (meter) do update set
      credited = spent_totals.credited + excluded.credited, version = spent_totals.version + 1`;
  if (dialect === 'sqlite') {
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
}
