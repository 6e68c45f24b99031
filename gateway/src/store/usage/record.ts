import type { ProtocolName, TokenUsage } from '#canonical/index.ts';

/** The operations that leave a usage row. */
export type Operation = 'generate' | 'count-tokens';

export type Outcome =
  /** The answer reached its success terminator upstream (whether or not the client stayed for it). */
  | 'completed'
  /** Refused by the gateway before any upstream was asked. */
  | 'refused'
  /** Every attempt failed, or the answer broke off after it had begun. */
  | 'failed'
  /** The client left a stream before its end; the upstream was cancelled. */
  | 'client-left';

/** How far an attempt got; it decides what may be retried. */
export type AttemptClass =
  /** Nothing reached the upstream. */
  | 'not-sent'
  /** Sent, and no byte of an answer came: the upstream may or may not have worked. */
  | 'uncertain'
  /** An answer began, and nothing of it was shown to the client. */
  | 'started'
  /** The client has seen some of it. */
  | 'shown';

export interface AttemptRecord {
  readonly channel: string;
  readonly class: AttemptClass;
  /** The upstream's status; null when there was none. */
  readonly status: number | null;
  /** `completed`, or why it failed: a short word of ours, never upstream text. */
  readonly result: string;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The upstream's own request id, for talking to its support. */
  readonly upstreamRequestId: string | null;
  /** What the upstream says it used although the attempt failed: nobody but the operator pays for it. */
  readonly usage?: TokenUsage;
}

/** Everything that is kept of one exchange: metadata and counts, never a body. Plain JSON. */
export interface ExchangeRecord {
  /** The `x-request-id`. */
  readonly id: string;
  /** Unix milliseconds of arrival. */
  readonly time: number;
  readonly keyId: string;
  readonly userId: string;
  readonly teamId: string | null;
  readonly group: string;
  /** As the client wrote it; empty when the request named none. */
  readonly model: string;
  readonly upstreamModel: string | null;
  /** The channel that answered; null when none did. */
  readonly channel: string | null;
  readonly protocol: ProtocolName;
  readonly operation: Operation;
  readonly stream: boolean;
  readonly outcome: Outcome;
  /** The HTTP status the client got. */
  readonly status: number;
  /** The catalogue error's name, when there was one. */
  readonly error: string | null;
  readonly attempts: readonly AttemptRecord[];
  readonly tokens: TokenUsage;
  /** `quarantined`: the upstream's counts are not to be believed, so the hold bounds the charge. */
  readonly usageSource: 'reported' | 'estimated' | 'quarantined' | 'none';
  readonly ttftMs: number | null;
  readonly durationMs: number;
  readonly rewrites: readonly string[];
  readonly losses: readonly string[];
  readonly userAgent: string | null;
  /** How many equal refusals this stands for; absent: it is one exchange. */
  readonly count?: number;
  /** Null when nothing is to be charged: refused, failed, not billed. */
  readonly charge: ChargeRecord | null;
  /** Absent when the answer gave out nothing of the kind. */
  readonly upstreamState?: StateRecord;
}

/** Ids that an answer gave out of what its upstream keeps, and whose they are. Digests (`Secrets.digestState`) only. */
export interface StateRecord {
  readonly owner: string;
  /** The channel's id. */
  readonly channel: string;
  readonly credential: string | null;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** Digest and kind of each, in turn: half as long in a line as pairs are. */
  readonly ids: readonly string[];
}

/**
 * What an exchange costs and who owes it, fixed before the client sees the end of its answer. Amounts are nano-USD
 * in decimal digits, since this travels as JSON.
 */
export interface ChargeRecord {
  /** Whose liability it is. */
  readonly payer: 'user' | 'team';
  readonly cost: string;
  /** What was held at admission. */
  readonly held: string;
  /** `cost` beyond `held`, when it was more. */
  readonly overshoot: string;
  readonly priceVersion: string;
  /** The group's, at admission. */
  readonly multiplier: string;
  /**
   * Line items; their exact sum × the multiplier, rounded once, is `cost`. Where the usage was estimated or
   * quarantined, `held` is the most that is charged: then they say what would have been.
   */
  readonly receipt: readonly ReceiptItem[];
  /**
   * The date of admission in the team's time zone, `2026-11-21`: the windows of its budgets that this counts in. Null
   * when a user pays. All other meters follow from who pays (`ledger/meter-names.ts`).
   */
  readonly window: string | null;
}

export interface ReceiptItem {
  /** A part of the price, as configuration writes it: `input`, `cache_read`, `output`, `image_tiers.2K`. */
  readonly part: string;
  readonly quantity: number;
  /** 10⁻¹⁵ USD per unit, decimal digits, before the multiplier. */
  readonly rate: string;
}
