import {
  apartParts,
  tokenParts,
  type ApartPart,
  type ApartTokens,
  type OperationName,
  type ProtocolName,
  type TokenCounts,
} from '#canonical/index.ts';

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
  /** The message of the error. It is kept apart from the row, and not as long. Absent: none is kept. */
  readonly message?: string;
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

/** How far an attempt got; this decides whether it may be retried. */
export type AttemptClass =
  /** Nothing reached the upstream. */
  | 'not-sent'
  /** Sent, but no byte of a response arrived, or none with a task's id: the upstream may or may not have worked. */
  | 'uncertain'
  /** A response began, but nothing of it was shown to the client. */
  | 'started'
  /** The client has seen part of it. */
  | 'shown';

/** `none`: neither the channel nor its credential or model. */
export type AttemptBlame = 'channel' | 'credential' | 'quota' | 'model' | 'none';

export interface AttemptRecord {
  readonly channel: string;
  readonly class: AttemptClass;
  /** The upstream's status; null if there was none. */
  readonly status: number | null;
  /** `completed`, or the reason of the failure: a short word of the gateway; `ending=` and the upstream's word if that is how it broke. */
  readonly result: string;
  /** What is to blame for a failure. Absent: nothing failed, or whatever failed says nothing about the channel. */
  readonly blame?: AttemptBlame;
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** The upstream's own request id, for its support. */
  readonly upstreamRequestId: string | null;
  /** The usage that the upstream reported although the attempt failed; only the operator pays for it. */
  readonly usage?: TokenCounts;
  /** The same for what is not counted in tokens. */
  readonly units?: UnitsRecord;
  /** The upstream's words about its failure, cleaned (`wordsOf`). They are kept apart from the row, and not as long. */
  readonly words?: string;
}

/** A channel that could have served an exchange and was not asked. */
export interface PassedOver {
  /** Its name. */
  readonly channel: string;
  readonly reason: PassedOverReason;
}

export type PassedOverReason =
  /** It had failed too often and was resting. */
  | 'ejected'
  /** Its provider had refused all its credentials. */
  | 'credential-refused'
  | 'rate-limited'
  | 'overloaded'
  /** Its provider had lately not known the model. */
  | 'model-missing'
  /** Too many of its requests were retries already. */
  | 'retry-budget'
  /** It could not have responded within the time that was left. */
  | 'no-time'
  /** It cannot take this request. */
  | 'unable'
  /** It was not needed, or no more attempts were allowed. */
  | 'not-reached';

/**
 * What an exchange made and used, where tokens alone do not tell, as usage rows show it. A name is absent if the exchange
 * has nothing of the kind.
 */
export interface UnitsRecord extends ApartUnits {
  /** Images that were charged for, without layers. */
  readonly images?: number;
  /** Layers of images. */
  readonly layers?: number;
  /** Source images. */
  readonly reference_images?: number;
  /** Milliseconds of a video that is charged by time. */
  readonly video_ms?: number;
  /** Tokens of a video that is charged by them. */
  readonly video_tokens?: number;
  /** The resolution by which a video is charged, such as `720P`. */
  readonly resolution?: string;
  /** A video is among the sources of a video. */
  readonly with_video?: boolean;
  /** The task that made a video, as its owner knows it. */
  readonly task?: string;
}

/** Tokens that are not text, each a part of the count with the beginning of its name: `output_image_tokens`. */
export type ApartUnits = {
  readonly [Part in ApartPart as `${(typeof tokenParts)[Part]}_tokens`]?: number;
};

/** Ids of stored upstream objects that a response gave out, and their owner. Digests (`Secrets.digestState`) only. */
export interface StateRecord {
  readonly owner: string;
  /** The channel's id. */
  readonly channel: string;
  readonly credential: string | null;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** Alternating digest and kind: half as long in a line as pairs. */
  readonly ids: readonly string[];
}

/** The same as in a line. */
export type StateValues = readonly [
  owner: string,
  channel: string,
  credential: string | null,
  expiresAt: number,
  ids: readonly string[],
];

/** Texts of errors in a line: the client's message, then the words about each attempt. */
export type ErrorTexts = readonly [message: string | null, ...words: (string | null)[]];

/**
 * The cost of an exchange and its payer, fixed before the client sees the end of its response. Amounts are decimal
 * digits of nano-USD, because this travels as JSON.
 */
export interface ChargeRecord {
  /** The payer. */
  readonly payer: 'user' | 'team';
  readonly cost: string;
  /** The amount held at admission. */
  readonly held: string;
  /** The part of `cost` beyond `held`. */
  readonly overshoot: string;
  readonly priceVersion: string;
  /** The group's multiplier at admission. */
  readonly multiplier: string;
  /**
   * Line items; their exact sum × the multiplier, rounded once, is `cost`. If the usage was estimated or quarantined,
   * at most `held` is charged, and the items show the uncapped amounts.
   */
  readonly receipt: readonly ReceiptItem[];
  /**
   * The date of admission in the team's time zone, `2026-11-21`: the budget windows that the cost counts in. Null if a
   * user pays. All other meters follow from the payer (`ledger/meter-names.ts`).
   */
  readonly window: string | null;
  /** The leases in which the cost lies; absent: in none. */
  readonly lease?: LeaseRecord;
}

/** The process whose leases a charge lies in, and its part on each meter of the charge (`ledger/meter-names.ts`). */
export interface LeaseRecord {
  readonly life: string;
  /** Decimal digits of nano-USD. */
  readonly parts: readonly string[];
}

/** The same as in a line. */
export type LeaseValues = readonly [life: string, ...parts: string[]];

export interface ReceiptItem {
  /** A part of the price, as in the configuration: `input`, `cache_read`, `output`, `image_tiers.2K`. */
  readonly part: string;
  /** Units; seconds may have thousandths. */
  readonly quantity: number;
  /** 10⁻¹⁵ USD per unit before the group's multiplier, as a decimal that includes the part's own multipliers. */
  readonly rate: string;
}

/**
 * What was made, with the tokens that are not text. Null: nothing of either.
 * @param madeUnits absent: nothing
 * @param tokens absent: none
 */
export function unitsOf(
  madeUnits: UnitsRecord | undefined,
  tokens: ApartTokens | undefined,
): UnitsRecord | null {
  let units = madeUnits ?? null;
  if (tokens === undefined) return units;
  for (const part of apartParts) {
    const count = tokens[part];
    if (count !== undefined) units = { ...units, [`${tokenParts[part]}_tokens`]: count };
  }
  return units;
}
