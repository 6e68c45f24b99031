/**
 * The port that counts: rates, requests under way, money held and spent. Two implementations under one suite, in
 * memory for one node and in Redis for several. Every step is all-or-nothing, and none of them waits for the
 * database.
 *
 * Answers come at once in memory and as promises from Redis; callers take both (`instanceof Promise`), so that the
 * common case costs no turn of the event loop.
 */
export interface Counters {
  /** Counts a request against every rate and takes a slot of every concurrency limit, or does neither. */
  admit(request: RateRequest): RateDecision | Promise<RateDecision>;
  /** Gives the slots of an admitted request back. Twice is once. */
  leave(id: string): void;

  /** Reserves money on every meter, or on none. */
  hold(request: HoldRequest): HoldDecision | Promise<HoldDecision>;
  /**
   * Ends a hold: what was spent is added to every meter it was held on, the rest is free again. 0 releases it.
   * Ending one that is not known (expired, ended) still adds the spending, and adds it once per id.
   */
  settle(id: string, meters: readonly string[], spent: bigint): void;

  /** What the meter says now; null for one never seen. For `GET /v1/usage` and the console. */
  read(meter: string): MeterState | null | Promise<MeterState | null>;
  readonly degraded: boolean;
  close(): Promise<void>;
}

export interface RateRequest {
  /** The exchange. */
  readonly id: string;
  readonly limits: readonly RateLimit[];
}

/** At most `limit` requests in any span of `windowMs`; `windowMs` 0: at most `limit` under way at once. */
export interface RateLimit {
  /** `key:<id>:rpm`, `key:<id>:rph`, `key:<id>:concurrency`, `key:<id>:burst`, `team:<id>:rpm`. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
}

export type RateDecision =
  | { readonly admitted: true }
  /** `retryAfterMs`: after it the same request is admitted if nobody else came: the longest wait of all limits. */
  | { readonly admitted: false; readonly denied: string; readonly retryAfterMs: number };

/** Amounts are nano-USD. */
export interface HoldRequest {
  /** The exchange. One hold per id. */
  readonly id: string;
  /** The upper bound of the cost. When a meter has less left, all of what is left is held instead. */
  readonly amount: bigint;
  /** In the order in which the first exhausted one is named. */
  readonly meters: readonly Meter[];
  /** Unix milliseconds: a hold nobody ended by then is void. */
  readonly expiresAt: number;
}

/** Money that may be spent: a balance, a quota, or a budget within one window. */
export interface Meter {
  /**
   * `user:<id>:balance`, `user:<id>:quota`, `key:<id>:quota`, `team:<id>:balance`, `team:<id>:daily:2026-11-21`,
   * `team:<id>:monthly:2026-11`, `team:<id>:total`, `team:<id>:member:<user id>`.
   */
  readonly name: string;
  /** All that may ever be spent on it. For a balance: everything credited so far. */
  readonly limit: bigint;
  /** With less than this left, nothing is admitted: 10_000_000n (0.01 USD) for balances, 1n else. */
  readonly floor: bigint;
}

export type HoldDecision =
  | { readonly held: true; readonly amount: bigint }
  | { readonly held: false; readonly denied: string };

export interface MeterState {
  readonly spent: bigint;
  readonly held: bigint;
}

/** What has been spent on meters according to the database: where counting starts from. Unknown meters are 0. */
export type SpentSource = (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
