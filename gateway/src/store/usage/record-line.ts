import type { UsageTable } from '#database/index.ts';
import { clientOf } from './client-family.ts';
import type {
  AttemptRecord,
  ErrorTexts,
  ExchangeRecord,
  LeaseValues,
  StateValues,
} from './record.ts';

/**
 * The values of a line, in order: the name and the form of each; for a column that lines of earlier versions lack, the
 * first version that has it, and its value for older lines if that is not null. Only this table defines how lines are
 * read and rows inserted, and `valuesOf` follows it. A new column goes at the end; a column never moves.
 */
export const columns = [
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
  ['cost', 'amount', 2],
  ['payer', 'text', 2],
  ['held', 'amount', 2],
  ['overshoot', 'amount', 2],
  ['price_version', 'text', 2],
  ['multiplier', 'text', 2],
  ['receipt', 'json', 2],
  ['budget_window', 'text', 2],
  // Stored in a table of its own.
  ['upstream_state', 'beside', 3],
  ['count', 'integer', 4, 1],
  ['units', 'json', 5],
  // Taken out of the leases.
  ['lease', 'beside', 6],
  ['client', 'text', 7, 'other'],
  ['route', 'json', 8],
  ['usage_unread', 'json', 9],
  // Stored in a table of its own.
  ['error_texts', 'beside', 10],
] as const satisfies readonly Column[];

/** `posting` and `late` are unknown before the row is written. */
type UsageColumn = keyof Omit<UsageTable, 'posting' | 'late'>;

interface ValuesBeside {
  readonly upstream_state: StateValues | null;
  readonly lease: LeaseValues | null;
  readonly error_texts: ErrorTexts | null;
}

type Column =
  | { [Name in UsageColumn]: Typed<Name, FormOf<UsageTable[Name]>, UsageTable[Name]> }[UsageColumn]
  | Typed<keyof ValuesBeside, 'beside', null>;

/**
 * The form of a value in a line: text and integers as they are, `json` as JSON, and an `amount` of nano-USD as decimal
 * digits, because it may exceed a JSON number.
 */
type FormOf<Value> =
  | (bigint extends Value ? 'amount' : never)
  | (number extends Value ? 'integer' : never)
  | (string extends Value ? 'text' | 'json' : never);

type Typed<Name, Form, Value> =
  | readonly [name: Name, form: Form]
  | (null extends Value
      ? readonly [name: Name, form: Form, since: number]
      : readonly [name: Name, form: Form, since: number, before: Value]);

export type LineColumn = (typeof columns)[number][0];

/** The values of a line in their order. */
export const lineColumns = columns.map((column: AnyColumn, position) => {
  const [name, form, since = 1, before = null] = column;
  return { name, form, position, since, before };
});

type AnyColumn = readonly [
  name: LineColumn,
  form: (typeof columns)[number][1],
  since?: number,
  before?: string | number | null,
];

/** The position of a column in a line. */
export const positionOf = Object.fromEntries(
  lineColumns.map(({ name, position }) => [name, position]),
) as Record<LineColumn, number> satisfies Record<UsageColumn, number>;

/** The columns of the usage row, and the position of each in a line. */
export const usageColumns = lineColumns.filter(({ form }) => form !== 'beside');

/** Stored with each batch of lines, because a journal may be older than the program that reads it. */
export const lineVersion = Math.max(...lineColumns.map(({ since }) => since));

type ValuesOf<Columns extends readonly Column[]> = {
  readonly [At in keyof Columns]: InLine<Columns[At]>;
};

type InLine<Row extends Column> = Row[0] extends keyof ValuesBeside
  ? ValuesBeside[Row[0]]
  : Row[0] extends UsageColumn
    ? Row[1] extends 'amount' | 'json'
      ? (Row[1] extends 'amount' ? string : object) | Extract<UsageTable[Row[0]], null>
      : UsageTable[Row[0]]
    : never;

/** The values of a record in the order of `columns`. */
export function valuesOf(record: ExchangeRecord): ValuesOf<typeof columns> {
  const { charge, tokens, ttftMs, upstreamState: state, userAgent } = record;
  const lease = charge?.lease;
  const hasWords = record.attempts.some(({ words }) => words !== undefined);
  const { message = null } = record;
  return [
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
    hasWords ? record.attempts.map(withoutWords) : record.attempts,
    tokens.input,
    tokens.cacheRead,
    tokens.cacheWrite,
    tokens.cacheWrite1h,
    tokens.output,
    tokens.reasoning,
    record.usageSource,
    // Times of a fine clock have fractions.
    ttftMs === null ? null : Math.round(ttftMs),
    Math.round(record.durationMs),
    record.rewrites,
    record.losses,
    userAgent === null ? null : cut(userAgent),
    charge?.cost ?? null,
    charge?.payer ?? null,
    charge?.held ?? null,
    charge?.overshoot ?? null,
    charge?.priceVersion ?? null,
    charge?.multiplier ?? null,
    charge?.receipt ?? null,
    charge?.window ?? null,
    state === undefined
      ? null
      : [state.owner, state.channel, state.credential, state.expiresAt, state.ids],
    record.count ?? 1,
    record.units ?? null,
    lease === undefined ? null : [lease.life, ...lease.parts],
    clientOf(userAgent),
    record.route ?? null,
    record.usageUnread ?? null,
    message === null && !hasWords
      ? null
      : [message, ...record.attempts.map(({ words = null }) => words)],
  ];
}

/** An attempt as its row has it. */
export function withoutWords({ words: _words, ...attempt }: AttemptRecord): AttemptRecord {
  return attempt;
}

/** Text that clients choose is cut to this length. */
const maxClientText = 256;

function cut(text: string): string {
  return text.length > maxClientText ? text.slice(0, maxClientText) : text;
}

/**
 * One exchange as one line: a JSON array without column names. Writing it costs a third of the object with names, and
 * it is half as long.
 */
export function toLine(record: ExchangeRecord): string {
  const values = valuesOf(record);
  const line = JSON.stringify(values);
  // Searching for the escape alone is much faster than the pattern.
  return line.includes('\\u') && unstorable.test(line) ? JSON.stringify(values, storable) : line;
}

/** NUL and lone surrogates, as JSON writes them: PostgreSQL refuses both in text, and with them the whole batch. */
const unstorable = /\\u(?:0000|d[89a-f])/;

function storable(_: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value;
}
