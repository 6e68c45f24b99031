import type { ExchangeRecord } from './record.ts';
import { lineColumns, lineVersion, positionOf, toLine } from './record-line.ts';

/** The values of a line in the order of `columns`. */
export type LineValues = unknown[];

/** Lines as a journal stores them. */
export interface StoredLines {
  /** `lineVersion` of the program that wrote them. */
  readonly version: number;
  /** Joined by commas. */
  readonly lines: string;
}

/** Records that are ready to become rows. */
export interface UsageLines {
  readonly rows: readonly LineValues[];
  /** The same as text: lines of this version, joined by commas. */
  readonly text: string;
}

/** The record itself is at fault, not the database: a retry would not help. */
export class RecordError extends Error {
  override readonly name = 'RecordError';
}

/**
 * Reads lines by the version they were written with.
 * @throws RecordError for a damaged line; Error for lines of a newer version, which must be kept.
 */
export function readLines(batches: readonly StoredLines[]): UsageLines {
  const text = batches
    .map(({ version, lines }) => (version === lineVersion ? lines : renew(version, lines)))
    .join(',');
  return { rows: parse(text, lineColumns.length), text };
}

/** Lines for records that are in no journal. */
export function linesOf(records: readonly ExchangeRecord[]): UsageLines {
  return readLines([{ version: lineVersion, lines: records.map(toLine).join(',') }]);
}

/** Converts lines of an earlier version to this version. */
function renew(version: number, lines: string): string {
  if (version > lineVersion) {
    throw new Error(
      `usage records are of version ${version}, this version of sluice reads up to ${lineVersion}: run the newer one`,
    );
  }
  const missingValues = lineColumns
    .filter(({ since }) => since > version)
    .map(({ before }) => before);
  return parse(lines, lineColumns.length - missingValues.length)
    .map((row) => JSON.stringify([...row, ...missingValues]))
    .join(',');
}

function parse(lines: string, width: number): LineValues[] {
  const rows = splitLines(lines);
  for (const row of rows) {
    const length = Array.isArray(row) ? row.length : 0;
    if (length !== width) throw new RecordError(`a line has ${length} values instead of ${width}`);
  }
  return rows;
}

/** The lines of a batch one by one, whatever is in them. @throws RecordError when they cannot be told apart. */
export function splitLines(lines: string): LineValues[] {
  try {
    return JSON.parse(`[${lines}]`) as LineValues[];
  } catch (cause) {
    throw new RecordError('lines are not JSON', { cause });
  }
}

/** The maximum of a 64-bit column. */
const mostNano = 2n ** 63n - 1n;

/** The cost of a line's exchange in nano-USD; null if nothing is charged. @throws RecordError */
export function costOf(row: LineValues): bigint | null {
  const cost = row[positionOf.cost];
  if (cost === null) return null;
  const amount = typeof cost === 'string' && /^\d{1,19}$/.test(cost) ? BigInt(cost) : null;
  if (amount === null || amount > mostNano) {
    throw new RecordError('a cost is not a number of nano-USD');
  }
  return amount;
}
