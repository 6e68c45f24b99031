import { sql, type Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import { balanceMeter, type HolderAccount } from './accounts.ts';

/** Names per query: databases bound the parameters of a statement. */
const pageSize = 5_000;

/** All that was ever credited: opening credits, top-ups and corrections. Nano-USD; an account without is 0. */
export async function fundingOf<Name extends HolderAccount>(
  db: Kysely<Database>,
  accounts: readonly Name[],
): Promise<Map<Name, bigint>> {
  const funding = new Map(accounts.map((account) => [account, 0n]));
  for (const page of pagesOf(accounts)) {
    const rows = await db
      .selectFrom('ledger_entries')
      .select(['account', ({ fn }) => fn.sum<bigint>('amount').as('amount')])
      .where('account', 'in', page)
      // Literally as in the index that holds only these.
      .where(sql.ref('kind'), '<>', sql.lit('usage'))
      .groupBy('account')
      .execute();
    for (const { account, amount } of rows) funding.set(account as Name, amount);
  }
  return funding;
}

/** What has been spent on meters, nano-USD; a meter without any is 0. */
export async function spentOf(
  db: Kysely<Database>,
  meters: readonly string[],
): Promise<Map<string, bigint>> {
  const spent = new Map(meters.map((meter) => [meter, 0n]));
  for (const page of pagesOf(meters)) {
    const rows = await db
      .selectFrom('spent_totals')
      .select(['meter', 'spent'])
      .where('meter', 'in', page)
      .execute();
    for (const row of rows) spent.set(row.meter, row.spent);
  }
  return spent;
}

/**
 * What is left, nano-USD. The sum of an account's entries, had cheaply: `reconcile` proves that what was spent on the
 * balance is what usage took from the account.
 */
export async function balances<Name extends HolderAccount>(
  db: Kysely<Database>,
  accounts: readonly Name[],
): Promise<Map<Name, bigint>> {
  const funding = await fundingOf(db, accounts);
  const spent = await spentOf(db, accounts.map(balanceMeter));
  return new Map(
    accounts.map((account) => [
      account,
      (funding.get(account) ?? 0n) - (spent.get(balanceMeter(account)) ?? 0n),
    ]),
  );
}

function* pagesOf<Name>(names: readonly Name[]): Generator<Name[]> {
  for (let at = 0; at < names.length; at += pageSize) yield names.slice(at, at + pageSize);
}
