import type { UsageTable } from '../../database/schema.ts';
import { balanceMeter, type HolderAccount } from '../accounts.ts';
import type { Difference } from './difference.ts';
import { receiptCost } from './receipt-cost.ts';

/** What is read of a usage row to check it. */
export const checkedColumns = [
  'id',
  'time',
  'user_id',
  'team_id',
  'outcome',
  'usage_source',
  'cost',
  'receipt',
  'payer',
  'held',
  'overshoot',
  'multiplier',
  'meters',
  'posting',
] as const satisfies readonly (keyof UsageTable)[];

export type CheckedRow = Pick<UsageTable, (typeof checkedColumns)[number]>;

/** Checks a usage row against itself. Pure. */
export function checkRow(row: CheckedRow): Difference[] {
  const { id: subject, cost } = row;
  if (cost === null) return [];
  const differences: Difference[] = [];
  const compare = (check: Difference['check'], expected: unknown, found: unknown) => {
    if (expected === found) return;
    differences.push({ check, subject, expected: String(expected), found: String(found) });
  };
  compare('receipt', costOf(row), cost);
  const held = row.held ?? 0n;
  compare('charge', `overshoot ${cost > held ? cost - held : 0n}`, `overshoot ${row.overshoot}`);
  const booked = row.posting === null ? 'not booked' : 'booked';
  compare('charge', cost > 0n ? 'booked' : 'not booked', booked);
  if (cost > 0n) {
    const isFree = row.outcome === 'failed' || row.outcome === 'refused';
    compare(
      'charge',
      `${row.outcome} at no cost`,
      isFree ? `${cost}` : `${row.outcome} at no cost`,
    );
    const meter = balanceMeter(payerOf(row));
    const counted = metersOf(row).filter((name) => name === meter).length;
    compare('charge', `${meter} once`, counted === 1 ? `${meter} once` : `${counted} times`);
  }
  return differences;
}

export function metersOf({ meters }: Pick<CheckedRow, 'meters'>): readonly string[] {
  return meters === null ? [] : (JSON.parse(meters) as string[]);
}

function payerOf(row: CheckedRow): HolderAccount {
  return row.payer === 'team' ? `team:${row.team_id}` : `user:${row.user_id}`;
}

/** Counts that nobody vouches for are charged up to what was held and no further. */
const capped: ReadonlySet<string> = new Set(['estimated', 'quarantined']);

/** What the receipt comes to; a text when it cannot be read. */
function costOf({ receipt, multiplier, usage_source, held }: CheckedRow): bigint | string {
  try {
    const items = JSON.parse(receipt ?? '') as Parameters<typeof receiptCost>[0];
    const cost = receiptCost(items, multiplier ?? '');
    return capped.has(usage_source) && held !== null && held < cost ? held : cost;
  } catch (error) {
    return `a receipt (${(error as Error).message})`;
  }
}
