import type { TokenUsage } from '#canonical/index.ts';

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

/** The same as a line has it. */
export type StateValues = readonly [
  owner: string,
  channel: string,
  credential: string | null,
  expiresAt: number,
  ids: readonly string[],
];

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
