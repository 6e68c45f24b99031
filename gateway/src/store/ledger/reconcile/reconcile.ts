import type { OpenDatabase } from '#database/index.ts';
import {
  checkAccounts,
  checkOpenings,
  checkPostings,
  checkTransactions,
} from './books.repository.ts';
import type { Check, Difference } from './difference.ts';
import { checkHours } from './hours.repository.ts';
import { checkKeys } from './keys.repository.ts';
import { checkLosses } from './losses.repository.ts';
import { checkMeters } from './meters.repository.ts';
import { checkRows, type TimeRange } from './rows.repository.ts';
import { checkTasks } from './tasks.repository.ts';

/** How many items of each kind were checked. */
export type Checked = Record<
  | 'rows'
  | 'transactions'
  | 'openings'
  | 'postings'
  | 'accounts'
  | 'meters'
  | 'keys'
  | 'hours'
  | 'tasks',
  number
>;

/**
 * Recomputes every receipt, posting, balance and total, and reports each difference. It pages through all rows: the
 * time grows with their number, memory does not. It changes nothing and can run beside the gateway. A range limits the
 * check to the rows and hours in it, because balances and totals cover all time.
 */
export async function reconcile(
  database: OpenDatabase,
  range: TimeRange,
  onDifference: (difference: Difference) => void,
): Promise<Partial<Checked>> {
  const { kysely } = database;
  const isWhole = range.from === undefined && range.to === undefined;
  const checks: [keyof Checked, Check][] = [
    ['rows', checkRows(kysely, range)],
    ['hours', checkHours(database, range)],
    ...(isWhole
      ? ([
          ['transactions', checkTransactions(kysely)],
          ['openings', checkOpenings(kysely)],
          ['postings', checkPostings(kysely)],
          ['accounts', checkAccounts(kysely)],
          ['meters', checkMeters(kysely)],
          ['keys', checkKeys(kysely)],
          ['tasks', checkTasks(kysely)],
        ] as const satisfies [keyof Checked, Check][])
      : []),
  ];
  if (isWhole) await runCheck(checkLosses(kysely), onDifference);
  const checkedCounts: Partial<Checked> = {};
  for (const [name, check] of checks) checkedCounts[name] = await runCheck(check, onDifference);
  return checkedCounts;
}

async function runCheck(
  check: Check,
  onDifference: (difference: Difference) => void,
): Promise<number> {
  let next = await check.next();
  for (; next.done !== true; next = await check.next()) onDifference(next.value);
  return next.value;
}
