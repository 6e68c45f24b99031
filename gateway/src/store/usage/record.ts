import { clientOf } from './client-family.ts';
import type { OperationName, ProtocolName, TokenCounts } from '#canonical/index.ts';
import type { UsageTable } from '#database/index.ts';
import type {
  AttemptRecord,
  ChargeRecord,
  LeaseValues,
  PassedOver,
  StateRecord,
  StateValues,
  UnitsRecord,
} from './record-parts.ts';

export type Outcome =
  /** The response reached its success terminator upstream, whether or not the client stayed. */
  | 'completed'
  /** Refused by the gateway before any upstream was called. */
  | 'refused'
  /** Every attempt failed, or the response broke off after it had begun. */
  | 'failed'
  /** The client left a stream before its end; the upstream was cancelled. */
  | 'client-left';

/** Everything that is stored about one exchange: metadata and counts, never a body. Plain JSON. */
export interface ExchangeRecord {
  /** The `x-request-id`. */
  readonly id: string;
  /** Unix milliseconds of arrival. */
  readonly time: number;
  readonly keyId: string;
  readonly userId: string;
  readonly teamId: string | null;
  readonly group: string;
  /** As the client wrote it; empty if the request named none. */
  readonly model: string;
  readonly upstreamModel: string | null;
  /** The channel that responded; null if none did. */
  readonly channel: string | null;
  readonly protocol: ProtocolName;
  readonly operation: OperationName;
  readonly stream: boolean;
  readonly outcome: Outcome;
  /** The HTTP status that the client received. */
  readonly status: number;
  /** The catalogue error's name, if there was an error. */
  readonly error: string | null;
  readonly attempts: readonly AttemptRecord[];
  /** Absent if no channel was passed over. */
  readonly route?: readonly PassedOver[];
  readonly tokens: TokenCounts;
  /** `quarantined`: the upstream's counts are implausible, so the hold limits the charge. */
  readonly usageSource: 'reported' | 'estimated' | 'quarantined' | 'none';
  readonly ttftMs: number | null;
  readonly durationMs: number;
  readonly rewrites: readonly string[];
  readonly losses: readonly string[];
  readonly userAgent: string | null;
  /** The number of identical refusals that this stands for; absent: it is one exchange. */
  readonly count?: number;
  /** Null if nothing is charged: refused, failed, not billed. */
  readonly charge: ChargeRecord | null;
  /** Absent for exchanges that consist of tokens alone. */
  readonly units?: UnitsRecord;
  /** Counters of the upstream's usage that nothing reads, by the paths of their members. Absent: none. */
  readonly usageUnread?: readonly string[];
  /** Absent if the response gave out no such ids. */
  readonly upstreamState?: StateRecord;
}

type Read<Value> = (record: ExchangeRecord) => Value;

/** For a column that lines of earlier versions lack: `since` is the first version that has it. */
type History<Value> = null extends Value
  ? { readonly since: number }
  : { readonly since: number; /** The value for older lines. */ readonly before: Value };

/**
 * The form of a value in a line: text and integers as they are, `json` as JSON, and an `amount` of nano-USD as decimal
 * digits, because it may exceed a JSON number.
 */
type Column<Value> =
  | (bigint extends Value ? Typed<'amount', string, Value> : never)
  | (number extends Value ? Typed<'integer', number, Value> : never)
  | (string extends Value ? Typed<'text', string, Value> | Typed<'json', object, Value> : never);

/** Null is for nullable columns. */
type Typed<Type, InLine, Value> = readonly [
  type: Type,
  read: Read<InLine | Extract<Value, null>>,
  history?: History<InLine | Extract<Value, null>>,
];

/** `posting` and `late` are unknown before the row is written. */
type RowColumns = {
  readonly [Name in keyof Omit<UsageTable, 'posting' | 'late'>]: Column<UsageTable[Name]>;
};

interface OtherColumns {
  /** Stored in a table of its own. */
  readonly upstream_state: Typed<'beside', StateValues, null>;
  /** Taken out of the leases. */
  readonly lease: Typed<'beside', LeaseValues, null>;
}

/**
 * The values of a line, in order: the type of each, and how it is read from a record. Only this table defines how lines
 * are written and read, and rows inserted. A new column goes at the end and names the version of lines that introduces
 * it; a column never moves.
 */
export const columns = {
  id: ['text', ({ id }) => id],
  time: ['integer', ({ time }) => time],
  key_id: ['text', ({ keyId }) => keyId],
  user_id: ['text', ({ userId }) => userId],
  team_id: ['text', ({ teamId }) => teamId],
  group_name: ['text', ({ group }) => group],
  model: ['text', ({ model }) => cut(model)],
  upstream_model: ['text', ({ upstreamModel }) => upstreamModel],
  channel: ['text', ({ channel }) => channel],
  protocol: ['text', ({ protocol }) => protocol],
  operation: ['text', ({ operation }) => operation],
  stream: ['integer', ({ stream }) => (stream ? 1 : 0)],
  outcome: ['text', ({ outcome }) => outcome],
  status: ['integer', ({ status }) => status],
  error: ['text', ({ error }) => error],
  attempts: ['json', ({ attempts }) => attempts],
  input_tokens: ['integer', ({ tokens }) => tokens.input],
  cache_read_tokens: ['integer', ({ tokens }) => tokens.cacheRead],
  cache_write_tokens: ['integer', ({ tokens }) => tokens.cacheWrite],
  cache_write_1h_tokens: ['integer', ({ tokens }) => tokens.cacheWrite1h],
  output_tokens: ['integer', ({ tokens }) => tokens.output],
  reasoning_tokens: ['integer', ({ tokens }) => tokens.reasoning],
  usage_source: ['text', ({ usageSource }) => usageSource],
  // Times of a fine clock have fractions.
  ttft_ms: ['integer', ({ ttftMs }) => (ttftMs === null ? null : Math.round(ttftMs))],
  duration_ms: ['integer', ({ durationMs }) => Math.round(durationMs)],
  rewrites: ['json', ({ rewrites }) => rewrites],
  losses: ['json', ({ losses }) => losses],
  user_agent: ['text', ({ userAgent }) => (userAgent === null ? null : cut(userAgent))],
  cost: ['amount', ({ charge }) => charge?.cost ?? null, { since: 2 }],
  payer: ['text', ({ charge }) => charge?.payer ?? null, { since: 2 }],
  held: ['amount', ({ charge }) => charge?.held ?? null, { since: 2 }],
  overshoot: ['amount', ({ charge }) => charge?.overshoot ?? null, { since: 2 }],
  price_version: ['text', ({ charge }) => charge?.priceVersion ?? null, { since: 2 }],
  multiplier: ['text', ({ charge }) => charge?.multiplier ?? null, { since: 2 }],
  receipt: ['json', ({ charge }) => charge?.receipt ?? null, { since: 2 }],
  budget_window: ['text', ({ charge }) => charge?.window ?? null, { since: 2 }],
  upstream_state: ['beside', ({ upstreamState }) => stateValues(upstreamState), { since: 3 }],
  count: ['integer', ({ count }) => count ?? 1, { since: 4, before: 1 }],
  units: ['json', ({ units }) => units ?? null, { since: 5 }],
  lease: ['beside', ({ charge }) => leaseValues(charge), { since: 6 }],
  client: ['text', ({ userAgent }) => clientOf(userAgent), { since: 7, before: 'other' }],
  route: ['json', ({ route }) => route ?? null, { since: 8 }],
  usage_unread: ['json', ({ usageUnread }) => usageUnread ?? null, { since: 9 }],
} as const satisfies RowColumns & OtherColumns;

/** Text that clients choose is cut to this length. */
const maxClientText = 256;

function cut(text: string): string {
  return text.length > maxClientText ? text.slice(0, maxClientText) : text;
}

function stateValues(state: StateRecord | undefined): StateValues | null {
  if (state === undefined) return null;
  return [state.owner, state.channel, state.credential, state.expiresAt, state.ids];
}

function leaseValues(charge: ChargeRecord | null): LeaseValues | null {
  const lease = charge?.lease;
  return lease === undefined ? null : [lease.life, ...lease.parts];
}
