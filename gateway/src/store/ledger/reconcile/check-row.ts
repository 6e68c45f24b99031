import type { UsageTable } from '#database/index.ts';
import { chargedColumns, chargedOf } from '../meter-names.ts';
import type { Difference } from './difference.ts';
import { receiptCost } from './receipt-cost.ts';

/** The columns of a usage row that are read to check it. */
export const checkedColumns = [
  'id',
  'time',
  'outcome',
  'usage_source',
  'cost',
  'receipt',
  'held',
  'overshoot',
  'multiplier',
  'price_version',
  'posting',
  ...chargedColumns,
] as const satisfies readonly (keyof UsageTable)[];

export type CheckedRow = Pick<UsageTable, (typeof checkedColumns)[number]>;

/** Checks that a usage row is consistent with itself. Pure. */
export function checkRow(row: CheckedRow): Difference[] {
  const { id: subject, cost } = row;
  if (cost === null) return [];
  const differences: Difference[] = [];
  const compare = (check: Difference['check'], expected: unknown, found: unknown) => {
    if (expected === found) return;
    differences.push({ check, subject, expected: String(expected), found: String(found) });
  };
  compare('receipt', costOf(row), cost);
  const heldAmount = row.held ?? 0n;
  compare(
    'charge',
    `overshoot ${cost > heldAmount ? cost - heldAmount : 0n}`,
    `overshoot ${row.overshoot}`,
  );
  const bookedText = row.posting === null ? 'not booked' : 'booked';
  compare('charge', cost > 0n ? 'booked' : 'not booked', bookedText);
  if (cost > 0n) {
    const isFree = row.outcome === 'failed' || row.outcome === 'refused';
    compare(
      'charge',
      `${row.outcome} at no cost`,
      isFree ? `${cost}` : `${row.outcome} at no cost`,
    );
    const { payer, team_id: team, budget_window: window } = row;
    const foundText = `payer ${payer}, team ${team}, window ${window}`;
    compare('charge', 'a payer', chargedOf(row) === null ? foundText : 'a payer');
  }
  return differences;
}

/** Counts without a trusted source are charged up to the hold and no further. */
const cappedSources: ReadonlySet<string> = new Set(['estimated', 'quarantined']);

/** The amount of the receipt; a text if it cannot be read. */
function costOf({ receipt, multiplier, usage_source, held }: CheckedRow): bigint | string {
  try {
    const items = JSON.parse(receipt ?? '') as Parameters<typeof receiptCost>[0];
    const cost = receiptCost(items, multiplier ?? '');
    return cappedSources.has(usage_source) && held !== null && held < cost ? held : cost;
  } catch (error) {
    return `a receipt (${(error as Error).message})`;
  }
}
