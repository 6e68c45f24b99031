import { trimTrailing } from '#config/decimal.ts';
import { formatUsd, type UsageTable } from '#database/index.ts';
import { lineColumns, valuesOf } from './record-line.ts';
import type {
  AttemptRecord,
  ExchangeRecord,
  PassedOver,
  ReceiptItem,
  UnitsRecord,
} from './record.ts';

/** One line of a receipt. */
export interface ReceiptEntry {
  /** As in the configuration: `input`, `image_tiers.2K`. */
  readonly part: string;
  readonly quantity: number;
  /** Decimal text in USD for one token, image or use. */
  readonly price: string;
}

/** One attempt at an upstream; see `AttemptRecord`. */
export interface AttemptEntry {
  readonly channel: string;
  readonly class: AttemptRecord['class'];
  readonly status: number | null;
  readonly result: string;
  /** RFC 3339. */
  readonly started_at: string;
  readonly duration_ms: number;
  readonly upstream_request_id: string | null;
  /** What the upstream reported for it although it failed; usually absent. */
  readonly usage?: AttemptRecord['usage'];
  readonly units?: UnitsRecord;
}

/** Token counts by the names of their columns, without `_tokens`. */
export interface ShownTokens {
  /** The uncached part. */
  readonly input: number;
  readonly cache_read: number;
  readonly cache_write: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
}

/** One exchange as `sluice usage --json` and the console show it. */
export interface UsageEntry {
  /** The `x-request-id`. */
  readonly id: string;
  /** RFC 3339. */
  readonly time: string;
  /** Its name, or its id if the key no longer exists. */
  readonly key: string;
  readonly key_id: string;
  /** E-mail address, or the id if the user no longer exists. */
  readonly user: string;
  readonly team: string | null;
  readonly model: string;
  /** The upstream's own name for it; null: no upstream was called. */
  readonly upstream_model: string | null;
  readonly channel: string | null;
  readonly protocol: string;
  readonly operation: string;
  /** The family of clients, such as `claude-code`; `other` for all that are not known. */
  readonly client: string;
  readonly stream: boolean;
  readonly outcome: string;
  readonly status: number;
  /** The name of the error; null: there was none. */
  readonly error: string | null;
  readonly attempts: readonly AttemptEntry[];
  readonly tokens: ShownTokens;
  /** What was made and used besides, such as images; null for tokens alone. */
  readonly units: UnitsRecord | null;
  /** Counters in the upstream's usage that nothing reads, such as `completion_tokens_details.video_tokens`. */
  readonly usage_unread: readonly string[];
  /** Decimal text in USD; null while nothing has been charged or decided. */
  readonly cost: string | null;
  /** The part of it that is not within its limits, because its lease had been freed or it never had one; usually absent. */
  readonly late?: string;
  /** What the cost is made of, before the group's factor; null while nothing has been charged. */
  readonly receipt: readonly ReceiptEntry[] | null;
  readonly estimated: boolean;
  /** The upstream's counts were implausible, so at most the hold was charged. */
  readonly quarantined: boolean;
  readonly ttft_ms: number | null;
  readonly duration_ms: number;
  readonly rewrites: readonly string[];
  readonly losses: readonly string[];
  /** The number of identical refusals that the row stands for; 1 for every other row. */
  readonly count: number;
}

/** One exchange with what its charge was made of and where it was booked. */
export interface UsageDetail extends UsageEntry {
  readonly group: string;
  /** Null while nothing has been charged, like all of the following but `usage_source`. */
  readonly multiplier: string | null;
  readonly price_version: string | null;
  /** `user` or `team`. */
  readonly payer: string | null;
  readonly held: string | null;
  readonly overshoot: string | null;
  /** `reported`, `estimated`, `quarantined` or `none`. */
  readonly usage_source: string;
  /** The ledger transaction; null for a cost of 0 too. */
  readonly transaction: string | null;
  /** Channels that could have served it and were not asked. */
  readonly route: readonly PassedOver[];
}

export interface UsageRow extends UsageTable {
  readonly key_name: string | null;
  readonly user_email: string | null;
  readonly team_name: string | null;
}

/** A row as the API and the commands show it: names where known, money as decimal text. */
export function toUsageEntry(row: UsageRow): UsageEntry {
  return {
    id: row.id,
    time: new Date(row.time).toISOString(),
    key: row.key_name ?? row.key_id,
    key_id: row.key_id,
    user: row.user_email ?? row.user_id,
    team: row.team_name ?? row.team_id,
    model: row.model,
    upstream_model: row.upstream_model,
    channel: row.channel,
    protocol: row.protocol,
    operation: row.operation,
    client: row.client,
    stream: row.stream === 1,
    outcome: row.outcome,
    status: row.status,
    error: row.error,
    attempts: attemptsOf(row.attempts),
    tokens: {
      input: row.input_tokens,
      cache_read: row.cache_read_tokens,
      cache_write: row.cache_write_tokens,
      cache_write_1h: row.cache_write_1h_tokens,
      output: row.output_tokens,
      reasoning: row.reasoning_tokens,
    },
    units: row.units === null ? null : (JSON.parse(row.units) as UnitsRecord),
    usage_unread: row.usage_unread === null ? [] : (JSON.parse(row.usage_unread) as string[]),
    cost: row.cost === null ? null : formatUsd(row.cost),
    ...(row.late !== null && { late: formatUsd(row.late) }),
    receipt: row.receipt === null ? null : receiptOf(row.receipt),
    estimated: row.usage_source === 'estimated',
    quarantined: row.usage_source === 'quarantined',
    ttft_ms: row.ttft_ms,
    duration_ms: row.duration_ms,
    rewrites: JSON.parse(row.rewrites) as string[],
    losses: JSON.parse(row.losses) as string[],
    count: row.count,
  };
}

function attemptsOf(text: string): AttemptEntry[] {
  return (JSON.parse(text) as AttemptRecord[]).map(
    ({ startedAt, durationMs, upstreamRequestId, ...attempt }) => ({
      ...attempt,
      started_at: new Date(startedAt).toISOString(),
      duration_ms: durationMs,
      upstream_request_id: upstreamRequestId,
    }),
  );
}

function receiptOf(text: string): ReceiptEntry[] {
  return (JSON.parse(text) as ReceiptItem[]).map(({ part, quantity, rate }) => ({
    part,
    quantity,
    price: decimalOf(rate),
  }));
}

/** Digits of 10⁻¹⁵ USD as USD. A multiplier may have left a fraction of them. */
export function decimalOf(rate: string): string {
  const [whole = '', rest = ''] = rate.split('.');
  const digits = whole.padStart(16, '0');
  const fraction = trimTrailing(digits.slice(-15) + rest, '0');
  return fraction === '' ? digits.slice(0, -15) : `${digits.slice(0, -15)}.${fraction}`;
}

export function toUsageDetail(row: UsageRow): UsageDetail {
  return {
    ...toUsageEntry(row),
    group: row.group_name,
    multiplier: row.multiplier,
    price_version: row.price_version,
    payer: row.payer,
    held: row.held === null ? null : formatUsd(row.held),
    overshoot: row.overshoot === null ? null : formatUsd(row.overshoot),
    usage_source: row.usage_source,
    transaction: row.posting,
    route: row.route === null ? [] : (JSON.parse(row.route) as PassedOver[]),
  };
}

/** What the ids of a record are called; null: not known. */
export interface RecordNames {
  readonly key: string | null;
  readonly user: string | null;
  readonly team: string | null;
}

/** A record as its row will be shown. */
export function entryOf(record: ExchangeRecord, { key, user, team }: RecordNames): UsageEntry {
  const line: readonly unknown[] = valuesOf(record);
  const values = lineColumns.map(({ name, form, position }) => {
    const value = line[position];
    if (value === null || form === 'text' || form === 'integer') return [name, value];
    return [name, form === 'amount' ? BigInt(value as string) : JSON.stringify(value)];
  });
  const row = Object.fromEntries(values) as Omit<UsageRow, 'key_name' | 'user_email' | 'team_name'>;
  return toUsageEntry({
    ...row,
    posting: null,
    late: null,
    key_name: key,
    user_email: user,
    team_name: team,
  });
}
