import type {
  AttemptsHourlyTable,
  LatencyHourlyTable,
  UsageHourlyTable,
  UsageKindTable,
} from '#database/index.ts';
import { chargedOf, meterNames, type Charged, type HolderAccount } from '#ledger/index.ts';
import { costOf, readLines, RecordError, type LineValues, type StoredLines } from './read-lines.ts';
import type { LeasedPart } from '#leases/index.ts';
import { latencyBucket } from './latency-buckets.ts';
import { positionOf } from './record-line.ts';
import type { AttemptRecord, LeaseValues, UnitsRecord } from './record.ts';

/** The amounts that a batch adds to the books and to the totals beside the rows. */
export interface BatchTotals {
  /** By account, for the rows with a cost. Nano-USD. */
  readonly accounts: ReadonlyMap<HolderAccount, bigint>;
  /** By meter. */
  readonly meters: ReadonlyMap<string, bigint>;
  readonly hours: readonly HourTotals[];
  /** How long completed requests took. */
  readonly latencies: readonly LatencyHourlyTable[];
  readonly kinds: readonly UsageKindTable[];
  readonly attempts: readonly AttemptsHourlyTable[];
  /** What of the costs lies in leases. */
  readonly leasedParts: readonly RowPart[];
}

export interface RowPart extends LeasedPart {
  /** The usage row. */
  readonly id: string;
}

/** Sums of one hour of one key, model, channel and client. */
export type HourTotals = UsageHourlyTable;

type Hours = Map<string, HourTotals>;
type Dimension = 'hour' | 'key_id' | 'user_id' | 'team_id' | 'model' | 'channel' | 'client';
type Sums = Omit<HourTotals, Dimension>;

const hourMs = 3_600_000;

/** These have the same names in a row and in its hour. */
const tokenSums = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'cache_write_1h_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;

/** These have the same names in the units of a row and in its hour. */
const unitSums = ['images', 'video_ms', 'video_tokens'] as const;

const noSums: Readonly<Sums> = {
  requests: 0,
  failed: 0,
  refused: 0,
  input_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cache_write_1h_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  images: 0,
  video_ms: 0,
  video_tokens: 0,
  cost: 0n,
  unbilled_tokens: 0,
  attempts: 0,
  failed_attempts: 0,
};

/** @throws RecordError for an invalid charge. */
export function sumUp(rows: readonly LineValues[]): BatchTotals {
  const accounts = new Map<HolderAccount, bigint>();
  const meters = new Map<string, bigint>();
  const hours = new Map<string, HourTotals>();
  const latencies = new Map<string, LatencyHourlyTable>();
  const kinds = new Map<string, UsageKindTable>();
  const attempts = new Map<string, AttemptsHourlyTable>();
  const leasedParts: RowPart[] = [];
  for (const row of rows) {
    addLatencies(latencies, row);
    addAttempts(attempts, row);
    const cost = costOf(row) ?? 0n;
    addToHour(hours, row, cost);
    addToKind(kinds, row, cost);
    if (cost === 0n) continue;
    const holder = chargedOfLine(row);
    add(accounts, holder.account, cost);
    const names = meterNames(holder);
    for (const meter of names) add(meters, meter, cost);
    addLeased(leasedParts, row, names);
  }
  return {
    accounts,
    meters,
    hours: [...hours.values()],
    latencies: [...latencies.values()],
    kinds: [...kinds.values()],
    attempts: [...attempts.values()],
    leasedParts,
  };
}

/** The parts of the charges that lie in leases; none if the lines cannot be read. */
export function leasedIn(lines: StoredLines): readonly LeasedPart[] {
  try {
    return sumUp(readLines([lines]).rows).leasedParts;
  } catch {
    return [];
  }
}

function add<Name>(totals: Map<Name, bigint>, name: Name, amount: bigint): void {
  totals.set(name, (totals.get(name) ?? 0n) + amount);
}

/** What a line charges. */
export interface LineCharge {
  /** The id of the record. */
  readonly id: string;
  /** Nano-USD, above 0. */
  readonly cost: bigint;
  /** All meters that it counts towards. */
  readonly meters: readonly string[];
}

/** @returns null if nothing is charged. @throws RecordError for an invalid charge. */
export function chargeOf(row: LineValues): LineCharge | null {
  const cost = costOf(row) ?? 0n;
  if (cost === 0n) return null;
  return { id: text(row, 'id'), cost, meters: meterNames(chargedOfLine(row)) };
}

function chargedOfLine(row: LineValues): Charged {
  const holder = chargedOf({
    payer: row[positionOf.payer] as string | null,
    key_id: text(row, 'key_id'),
    user_id: text(row, 'user_id'),
    team_id: row[positionOf.team_id] as string | null,
    budget_window: row[positionOf.budget_window] as string | null,
  });
  if (holder === null) throw new RecordError('the record does not name a payer');
  return holder;
}

/** @throws RecordError */
function addLeased(leasedParts: RowPart[], row: LineValues, meters: readonly string[]): void {
  const lease = row[positionOf.lease];
  if (lease === null) return;
  const [life, ...parts] = lease as LeaseValues;
  for (const [at, meter] of meters.entries()) {
    const part = parts[at] ?? '0';
    if (!/^\d{1,19}$/.test(part)) throw new RecordError('a part of a lease is not a number');
    if (part !== '0') leasedParts.push({ id: text(row, 'id'), meter, life, part: BigInt(part) });
  }
}

function addToHour(hours: Hours, row: LineValues, cost: bigint): void {
  const attempts = row[positionOf.attempts] as readonly AttemptRecord[];
  // A request that was refused at once may name any model: such names must not pile up.
  const model = attempts.length > 0 ? text(row, 'model') : '';
  const channel = text(row, 'channel');
  const totals = hourOf(hours, row, model, channel);
  addRow(totals, row, cost);
  for (const attempt of attempts) {
    const isOther = attempt.channel !== channel;
    addAttempt(isOther ? hourOf(hours, row, model, attempt.channel) : totals, attempt);
  }
}

function addAttempt(totals: Sums, attempt: AttemptRecord): void {
  totals.attempts += 1;
  if (attempt.blame !== undefined) totals.failed_attempts += 1;
  totals.unbilled_tokens += unbilledOf(attempt) ?? 0;
}

/** Adds a row to its sums, but for what its failed attempts used. */
function addRow(totals: Sums, row: LineValues, cost: bigint): void {
  const outcome = row[positionOf.outcome];
  const count = row[positionOf.count] as number;
  totals.requests += count;
  if (outcome === 'failed' || outcome === 'refused') totals.failed += count;
  if (outcome === 'refused') totals.refused += count;
  for (const name of tokenSums) totals[name] += row[positionOf[name]] as number;
  const units = row[positionOf.units] as UnitsRecord | null;
  if (units !== null) for (const name of unitSums) totals[name] += units[name] ?? 0;
  totals.cost += cost;
}

/** The tokens of a failed attempt; null if its channel reported none. */
function unbilledOf({ usage }: AttemptRecord): number | null {
  if (usage === undefined) return null;
  const { input, cacheRead, cacheWrite, cacheWrite1h, output } = usage;
  return input + cacheRead + cacheWrite + cacheWrite1h + output;
}

function addToKind(kinds: Map<string, UsageKindTable>, row: LineValues, cost: bigint): void {
  const hour = hourIn(row);
  const client = text(row, 'client');
  const protocol = text(row, 'protocol');
  const operation = text(row, 'operation');
  const outcome = text(row, 'outcome');
  const status = row[positionOf.status] as number;
  const name = `${hour} ${client} ${protocol} ${operation} ${outcome} ${status}`;
  let kind = kinds.get(name);
  if (kind === undefined) {
    kind = { hour, client, protocol, operation, outcome, status, ...noSums };
    kinds.set(name, kind);
  }
  addRow(kind, row, cost);
  const attempts = row[positionOf.attempts] as readonly AttemptRecord[];
  for (const attempt of attempts) addAttempt(kind, attempt);
}

function addLatencies(latencies: Map<string, LatencyHourlyTable>, row: LineValues): void {
  if (row[positionOf.outcome] !== 'completed') return;
  addLatency(latencies, row, 'first_token', row[positionOf.ttft_ms] as number | null);
  addLatency(latencies, row, 'duration', row[positionOf.duration_ms] as number);
}

function addLatency(
  latencies: Map<string, LatencyHourlyTable>,
  row: LineValues,
  measure: LatencyHourlyTable['measure'],
  milliseconds: number | null,
): void {
  if (milliseconds === null) return;
  const hour = hourIn(row);
  const model = text(row, 'model');
  const channel = text(row, 'channel');
  const bucket = latencyBucket(milliseconds);
  const requests = row[positionOf.count] as number;
  const name = `${hour}\n${measure}\n${bucket}\n${channel}\n${model}`;
  const entry = latencies.get(name);
  if (entry === undefined) {
    latencies.set(name, { hour, model, channel, measure, bucket, requests });
  } else entry.requests += requests;
}

function addAttempts(groups: Map<string, AttemptsHourlyTable>, row: LineValues): void {
  const hour = hourIn(row);
  const model = text(row, 'model');
  const list = row[positionOf.attempts] as readonly AttemptRecord[];
  const firstToken =
    row[positionOf.stream] === 1 ? (row[positionOf.ttft_ms] as number | null) : null;
  for (const [at, attempt] of list.entries()) {
    const { channel, startedAt, durationMs } = attempt;
    const outcome = attemptOutcome(attempt);
    const error = errorWord(attempt);
    const name = `${hour}\n${outcome}\n${error}\n${channel}\n${model}`;
    let group = groups.get(name);
    if (group === undefined) {
      const key = { hour, channel, model, outcome, error };
      group = {
        ...key,
        attempts: 0,
        duration_ms: 0,
        first_tokens: 0,
        first_token_ms: 0,
        last_at: 0,
      };
      groups.set(name, group);
    }
    group.attempts += 1;
    group.duration_ms += durationMs;
    group.last_at = Math.max(group.last_at, startedAt + durationMs);
    // The row counts from the arrival of the request, and only the last attempt can have shown something.
    if (firstToken === null || outcome !== 'answered' || at < list.length - 1) continue;
    group.first_tokens += 1;
    group.first_token_ms += Math.max(
      0,
      firstToken - (startedAt - (row[positionOf.time] as number)),
    );
  }
}

/** What an attempt says about its channel. */
function attemptOutcome({
  result,
  blame,
  class: reach,
}: AttemptRecord): AttemptsHourlyTable['outcome'] {
  if (blame !== undefined) return 'failed';
  return result === 'completed' || reach === 'shown' ? 'answered' : 'undecided';
}

/** The word of what went wrong in an attempt; empty: nothing did. An ending has the upstream's own word, of which there may be many. */
export function errorWord({ result }: Pick<AttemptRecord, 'result'>): string {
  if (result === 'completed') return '';
  return result.startsWith('ending=') ? 'ending' : result;
}

function hourOf(hours: Hours, row: LineValues, model: string, channel: string): HourTotals {
  const hour = hourIn(row);
  const keyId = text(row, 'key_id');
  const userId = text(row, 'user_id');
  const teamId = text(row, 'team_id');
  const client = text(row, 'client');
  const name = `${hour}\n${keyId}\n${userId}\n${teamId}\n${client}\n${channel}\n${model}`;
  let totals = hours.get(name);
  if (totals === undefined) {
    totals = {
      hour,
      key_id: keyId,
      user_id: userId,
      team_id: teamId,
      model,
      channel,
      client,
      ...noSums,
    };
    hours.set(name, totals);
  }
  return totals;
}

function hourIn(row: LineValues): number {
  const time = row[positionOf.time] as number;
  return time - (time % hourMs);
}

function text(row: LineValues, column: keyof typeof positionOf): string {
  return (row[positionOf[column]] as string | null) ?? '';
}
