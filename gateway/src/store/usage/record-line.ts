import type { ChargeRecord, ExchangeRecord, StateRecord } from './record.ts';

/**
 * Kept with each batch, and raised when columns are added, always at the end: a line of an earlier version lacks the
 * last ones. 2: `cost` and what follows it. 3: `upstream_state`. 4: `count`.
 */
export const lineVersion = 4;

/**
 * The values of a line in their order: the columns of the usage row and, marked `beside`, what goes into another table.
 * A line is a JSON array, because writing one costs a third of the object with its names, and it is half as long.
 */
export const lineColumns = [
  ['id', 'text'],
  ['time', 'integer'],
  ['key_id', 'text'],
  ['user_id', 'text'],
  ['team_id', 'text'],
  ['group_name', 'text'],
  ['model', 'text'],
  ['upstream_model', 'text'],
  ['channel', 'text'],
  ['protocol', 'text'],
  ['operation', 'text'],
  ['stream', 'integer'],
  ['outcome', 'text'],
  ['status', 'integer'],
  ['error', 'text'],
  ['attempts', 'json'],
  ['input_tokens', 'integer'],
  ['cache_read_tokens', 'integer'],
  ['cache_write_tokens', 'integer'],
  ['cache_write_1h_tokens', 'integer'],
  ['output_tokens', 'integer'],
  ['reasoning_tokens', 'integer'],
  ['usage_source', 'text'],
  ['ttft_ms', 'integer'],
  ['duration_ms', 'integer'],
  ['rewrites', 'json'],
  ['losses', 'json'],
  ['user_agent', 'text'],
  ['cost', 'integer'],
  ['payer', 'text'],
  ['held', 'integer'],
  ['overshoot', 'integer'],
  ['price_version', 'text'],
  ['multiplier', 'text'],
  ['receipt', 'json'],
  ['budget_window', 'text'],
  ['upstream_state', 'beside'],
  ['count', 'integer'],
] as const;

/** The columns of the usage row, and where each stands in a line. */
export const usageColumns = lineColumns.flatMap(([name, type], position) =>
  type === 'beside' ? [] : [{ name, type, position }],
);

/** Amounts stand in a line as decimal digits, since they may be beyond what a JSON number holds. */
export type LineColumn = (typeof lineColumns)[number][0];

/** What a client chose freely is cut to this length. */
const maxClientText = 256;

/** One exchange as one line of JSON without its column names. */
export function toLine(record: ExchangeRecord): string {
  const { tokens, charge } = record;
  const values = [
    record.id,
    record.time,
    record.keyId,
    record.userId,
    record.teamId,
    record.group,
    cut(record.model),
    record.upstreamModel,
    record.channel,
    record.protocol,
    record.operation,
    record.stream ? 1 : 0,
    record.outcome,
    record.status,
    record.error,
    record.attempts,
    tokens.input,
    tokens.cacheRead,
    tokens.cacheWrite,
    tokens.cacheWrite1h,
    tokens.output,
    tokens.reasoning,
    record.usageSource,
    whole(record.ttftMs),
    whole(record.durationMs),
    record.rewrites,
    record.losses,
    record.userAgent === null ? null : cut(record.userAgent),
    ...(charge === null ? uncharged : toValues(charge)),
    record.upstreamState === undefined ? null : toStateValues(record.upstreamState),
    record.count ?? 1,
  ];
  const line = JSON.stringify(values);
  return unstorable.test(line) ? JSON.stringify(values, storable) : line;
}

const uncharged = Array.from({ length: 8 }, () => null);

function toValues(charge: ChargeRecord): readonly unknown[] {
  return [
    charge.cost,
    charge.payer,
    charge.held,
    charge.overshoot,
    charge.priceVersion,
    charge.multiplier,
    charge.receipt,
    charge.window,
  ];
}

/** In the order that `upstream-state.repository.ts` reads. */
function toStateValues(state: StateRecord): readonly unknown[] {
  return [state.owner, state.channel, state.credential, state.expiresAt, state.ids];
}

/** NUL and lone surrogates, as JSON writes them: PostgreSQL refuses both in text, and a batch with them. */
const unstorable = /\\u(?:0000|d[89a-f])/;

function storable(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
}

function cut(text: string): string {
  return text.length > maxClientText ? text.slice(0, maxClientText) : text;
}

/** Times from a fine clock have fractions; the columns are integers. */
function whole(milliseconds: number | null): number | null {
  return milliseconds === null ? null : Math.round(milliseconds);
}
