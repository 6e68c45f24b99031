import type { Kysely } from 'kysely';
import type { Database } from '#database/schema.ts';
import { balanceMeter, type HolderAccount } from './accounts.ts';

/** Names per query: databases limit the parameters of a statement. */
const pageSize = 5_000;

/**
 * All credits of each account: opening credits, top-ups and corrections. Nano-USD; 0 for an account without any. The
 * database keeps their sum beside the ledger; `reconcile` compares both.
 */
export async function fundingOf<Name extends HolderAccount>(
  db: Kysely<Database>,
  accounts: readonly Name[],
): Promise<Map<Name, bigint>> {
  const creditedTotals = await totalsOf(db, accounts.map(balanceMeter), 'credited');
  return new Map(
    accounts.map((account) => [account, creditedTotals.get(balanceMeter(account)) ?? 0n]),
  );
}

/** The total spent on each meter, in nano-USD; 0 for a meter without any. */
export async function spentOf(
  db: Kysely<Database>,
  meters: readonly string[],
): Promise<Map<string, bigint>> {
  return totalsOf(db, meters, 'spent');
}

/** What tasks hold on each meter, in nano-USD; 0 for a meter without any. */
export async function heldByTasks(
  db: Kysely<Database>,
  meters: readonly string[],
): Promise<Map<string, bigint>> {
  return totalsOf(db, meters, 'held');
}

async function totalsOf(
  db: Kysely<Database>,
  meters: readonly string[],
  column: 'spent' | 'credited' | 'held',
): Promise<Map<string, bigint>> {
  const totals = new Map(meters.map((meter) => [meter, 0n]));
  for (const page of pagesOf(meters)) {
    const rows = await db
      .selectFrom('spent_totals')
      .select(['meter', column])
      .where('meter', 'in', page)
      .execute();
    for (const row of rows) totals.set(row.meter, row[column]);
  }
  return totals;
}

/**
 * The remaining balances, in nano-USD. Equal to the sum of an account's entries but cheaper: `reconcile` proves that
 * the spending on the balance equals what usage took from the account.
 */
export async function balances<Name extends HolderAccount>(
  db: Kysely<Database>,
  accounts: readonly Name[],
): Promise<Map<Name, bigint>> {
  const funding = await fundingOf(db, accounts);
  const spentTotals = await spentOf(db, accounts.map(balanceMeter));
  return new Map(
    accounts.map((account) => [
      account,
      (funding.get(account) ?? 0n) - (spentTotals.get(balanceMeter(account)) ?? 0n),
    ]),
  );
}

function* pagesOf<Name>(names: readonly Name[]): Generator<Name[]> {
  for (let at = 0; at < names.length; at += pageSize) yield names.slice(at, at + pageSize);
}
