import { lineColumns, type LineColumn } from './record-line.ts';

/** The values of a line in the order of `lineColumns`. */
export type LineValues = unknown[];

/** The record itself is at fault, not the database: trying again would not help. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

/** Lines joined by commas → their values; what a line of an earlier version lacks is null, and its count 1. */
export function parseLines(lines: string): LineValues[] {
  const rows = JSON.parse(`[${lines}]`) as LineValues[];
  for (const row of rows) {
    while (row.length < lineColumns.length) row.push(null);
    row[positionOf.count] ??= 1;
  }
  return rows;
}

/** Where a column stands in a line. */
export const positionOf = Object.fromEntries(
  lineColumns.map(([name], index) => [name, index]),
) as Record<LineColumn, number>;

/** What a 64-bit column holds. */
const mostNano = 2n ** 63n - 1n;

/** What a line's exchange costs in nano-USD; null when nothing is charged. @throws RecordError */
export function costOf(row: LineValues): bigint | null {
  const cost = row[positionOf.cost];
  if (cost === null) return null;
  const amount = typeof cost === 'string' && /^\d{1,19}$/.test(cost) ? BigInt(cost) : null;
  if (amount === null || amount > mostNano) {
    throw new RecordError('a cost is not a number of nano-USD');
  }
  return amount;
}
