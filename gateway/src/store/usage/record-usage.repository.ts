import type { Transaction } from 'kysely';
import type { Database, LatencyDailyTable, LatencyHourlyTable } from '#database/index.ts';
import {
  addSums,
  dailyDimensions,
  hourlyDimensions,
  hourlySums,
  type HourlySums,
} from '#database/usage-hourly.ts';
import { usageRemovedBefore } from '#database/revisions.ts';
import { createTransactionId, postTransaction, type Account } from '#ledger/index.ts';
import { leaseName, settleLeases } from '#leases/index.ts';
import { sumUp, type BatchTotals, type HourTotals, type RowPart } from './batch-totals.ts';
import { bulkInsert, type BulkInsert } from './bulk-insert.repository.ts';
import { RecordError, type LineValues, type UsageLines } from './read-lines.ts';
import { positionOf } from './record-line.ts';
import { insertUpstreamState } from './upstream-state.repository.ts';
import { insertErrors } from './usage-errors.repository.ts';
import { insertUsage } from './usage-rows.repository.ts';

export interface RecordUsageOptions {
  /** Unix milliseconds. */
  readonly now?: number;
  /**
   * These records may have been applied long ago. A record from a time whose rows have been removed is then refused
   * unless its row still exists, because nobody can tell whether it was counted.
   */
  readonly isLeftOver?: boolean;
  /** Called for each charge that comes after its lease was freed. @param amount nano-USD */
  readonly onLate?: (amount: bigint) => void;
}

/**
 * Inserts usage rows and posts their cost to the books, within a transaction of the caller. An existing record stays as
 * it is and counts nowhere again, so recording is idempotent in any order and from any number of processes.
 *
 * The books get one transaction for all of these rows; the rows contain its id, so that it can be checked against them.
 * @returns the number of new rows
 * @throws RecordError, or the error of the database; then the transaction must be rolled back.
 */
export async function recordUsage(
  trx: Transaction<Database>,
  lines: UsageLines,
  { now = Date.now(), isLeftOver = false, onLate = () => {} }: RecordUsageOptions = {},
): Promise<number> {
  const { rows } = lines;
  // Before anything is written: an invalid charge is found here.
  const totals = addUp(rows);
  const posting = createTransactionId(now);
  const insertedIds = await insertUsage(trx, lines, posting);
  if (insertedIds.size === 0) return 0;
  if (isLeftOver) refuseRemoved(only(rows, insertedIds), await usageRemovedBefore(trx));
  const fresh = insertedIds.size === rows.length ? rows : only(rows, insertedIds);
  await insertUpstreamState(trx, fresh);
  await insertErrors(trx, fresh);
  const late = await writeTotals(trx, fresh === rows ? totals : addUp(fresh), posting, now);
  if (late.length > 0) for (const amount of await markLate(trx, late)) onLate(amount);
  return insertedIds.size;
}

/** @throws RecordError for a line whose values have other types than those that were written. */
function addUp(rows: readonly LineValues[]): BatchTotals {
  try {
    return sumUp(rows);
  } catch (error) {
    if (error instanceof RecordError) throw error;
    throw new RecordError(`a line cannot be read: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws RecordError if one of these rows may have been counted and removed before. */
function refuseRemoved(rows: readonly LineValues[], before: number): void {
  if (rows.every((row) => (row[positionOf.time] as number) >= before)) return;
  throw new RecordError(
    'rows of that time were already removed, so the record may have been counted',
  );
}

/** The rows with these ids, each once: a batch may contain a record twice. */
function only(rows: readonly LineValues[], ids: ReadonlySet<string>): LineValues[] {
  const remainingIds = new Set(ids);
  return rows.filter((row) => remainingIds.delete(row[positionOf.id] as string));
}

/** Whether an error means that the data, not the database, is at fault: a retry would not help. */
export function isDataError(error: unknown): boolean {
  if (error instanceof RecordError) return true;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  // SQLSTATE classes 22 (data exception), 23 (constraint) and 54 (too large); SQLITE_TOOBIG, _CONSTRAINT and _MISMATCH.
  if (typeof code === 'string' && /^(?:22|23|54)...$/.test(code)) return true;
  return typeof errcode === 'number' && [18, 19, 20].includes(errcode & 0xff);
}

/** Returns what lay in leases that were freed. */
async function writeTotals(
  trx: Transaction<Database>,
  { accounts, meters, hours, latencies, kinds, attempts, leasedParts }: BatchTotals,
  posting: string,
  now: number,
): Promise<RowPart[]> {
  if (accounts.size > 0) {
    const sum = accounts.values().reduce((total, cost) => total + cost, 0n);
    const amounts = new Map<Account, bigint>([['revenue', sum]]);
    for (const [account, cost] of accounts) amounts.set(account, -cost);
    const common = { kind: 'usage', actor: null, reason: null, time: now } as const;
    await postTransaction(trx, { id: posting, ...common, amounts });
  }
  for (const sums of [hourly, daily, hourlyModels]) {
    const groups = sums
      .of(hours)
      .map((group) => sums.columns.map((name) => group[name as keyof HourlySums]));
    await bulkInsert(trx, sums.insert, groups.toSorted(byTextOf(sums.columns.length)));
  }
  for (const { insert, columns, groups } of [
    { ...latencyHourly, groups: latencies },
    { ...latencyDaily, groups: byDay(latencies) },
    { ...kindCounts, groups: kinds },
    { ...attemptSums, groups: attempts },
  ]) {
    const values = groups.map((group) => columns.map((name) => group[name as keyof typeof group]));
    await bulkInsert(trx, insert, values.toSorted(byTextOf(columns.length)));
  }
  // Meters come last, because requests that wait for money lock them; and in a fixed order everywhere: two nodes that
  // change the same rows must not deadlock.
  const spentRows = [...meters].toSorted(([a], [b]) => (a < b ? -1 : 1));
  await bulkInsert(trx, spentInsert, spentRows);
  const freedLeases = await settleLeases(trx, leasedParts);
  return leasedParts.filter(({ meter, life }) => freedLeases.has(leaseName(meter, life)));
}

/** Names in each row what was late. Returns the amounts. */
async function markLate(
  trx: Transaction<Database>,
  parts: readonly RowPart[],
): Promise<IteratorObject<bigint>> {
  // A charge lies in the leases of several meters, but is one amount of money.
  const amounts = new Map<string, bigint>();
  for (const { id, part } of parts) {
    if (part > (amounts.get(id) ?? 0n)) amounts.set(id, part);
  }
  for (const [id, late] of amounts) {
    await trx.updateTable('usage').set({ late }).where('id', '=', id).execute();
  }
  return amounts.values();
}

function byTextOf(length: number) {
  const textOf = (row: readonly unknown[]) => row.slice(0, length).join('\n');
  return (a: readonly unknown[], b: readonly unknown[]) => (textOf(a) < textOf(b) ? -1 : 1);
}

const spentInsert: BulkInsert = {
  table: 'spent_totals',
  columns: ['meter', 'spent'],
  end: 'on conflict (meter) do update set spent = spent_totals.spent + excluded.spent',
};

/** A table of sums that the applier keeps. */
interface KeptSums {
  readonly columns: readonly string[];
  readonly insert: BulkInsert;
  /** The groups of a batch, from its groups by the hour. */
  readonly of: (hours: readonly HourTotals[]) => readonly HourlySums[];
}

function keptSums(
  table: 'usage_hourly' | 'usage_daily' | 'usage_hourly_models',
  key: readonly string[],
  of: KeptSums['of'],
): KeptSums {
  return { ...sumTable(table, key, hourlySums), of };
}

/** A table whose groups have these names, to whose sums a batch adds, and which keeps the latest of some times. */
function sumTable(
  table: keyof Database,
  key: readonly string[],
  sums: readonly string[],
  latest: readonly string[] = [],
): Pick<KeptSums, 'columns' | 'insert'> {
  const columns = [...key, ...sums, ...latest];
  const changes = [
    ...sums.map((name) => `${name} = ${table}.${name} + excluded.${name}`),
    ...latest.map(
      (name) =>
        `${name} = case when excluded.${name} > ${table}.${name} then excluded.${name} else ${table}.${name} end`,
    ),
  ];
  const end = `on conflict (${key.join(', ')}) do update set ${changes.join(', ')}`;
  return { columns, insert: { table, columns, end } };
}

const dayMs = 86_400_000;
const hourly = keptSums('usage_hourly', ['hour', ...hourlyDimensions], (hours) => hours);
const daily = keptSums('usage_daily', ['day', ...dailyDimensions], (hours) =>
  mergeGroups(
    hours.map(({ hour, ...sums }) => ({ ...sums, day: hour - (hour % dayMs) })),
    ['day', ...dailyDimensions],
  ),
);
const hourlyModels = keptSums('usage_hourly_models', ['hour', 'model', 'channel'], (hours) =>
  mergeGroups(hours, ['hour', 'model', 'channel']),
);

/** Groups with the same names as one. */
function mergeGroups<Group extends HourlySums>(
  groups: readonly Group[],
  key: readonly string[],
): Group[] {
  const groupsByName = new Map<string, Group>();
  for (const group of groups) {
    const name = key.map((column) => String(group[column as keyof Group])).join('\n');
    const earlier = groupsByName.get(name);
    groupsByName.set(name, earlier === undefined ? group : addSums(earlier, group));
  }
  return [...groupsByName.values()];
}

const latencyKey = ['model', 'channel', 'measure', 'bucket'];
const latencyHourly = sumTable('latency_hourly', ['hour', ...latencyKey], ['requests']);
const latencyDaily = sumTable('latency_daily', ['day', ...latencyKey], ['requests']);
const kindCounts = sumTable(
  'usage_kinds',
  ['hour', 'client', 'protocol', 'operation', 'outcome', 'status'],
  hourlySums,
);

const attemptSums = sumTable(
  'attempts_hourly',
  ['hour', 'channel', 'model', 'outcome', 'error'],
  ['attempts', 'duration_ms', 'first_tokens', 'first_token_ms'],
  ['last_at'],
);

function byDay(latencies: readonly LatencyHourlyTable[]): LatencyDailyTable[] {
  const days = new Map<string, LatencyDailyTable>();
  for (const { hour, ...counts } of latencies) {
    const day = hour - (hour % dayMs);
    const { model, channel, measure, bucket, requests } = counts;
    const name = `${day}\n${measure}\n${bucket}\n${channel}\n${model}`;
    const entry = days.get(name);
    if (entry === undefined) days.set(name, { ...counts, day });
    else entry.requests += requests;
  }
  return [...days.values()];
}
