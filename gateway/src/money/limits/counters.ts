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
  /** Gives the slots of an admitted request back, after its admission was answered. Twice is once. */
  leave(id: string): void;

  /**
   * Reserves money on every meter, or on none. Asked again with the id of a hold that is not ended, it answers the same.
   * It may be asked while the answer to `admit` is still on its way, and holds nothing then when that is a denial, unless
   * Redis fails in between or a second goes by.
   * @throws GatewayError `unavailable` when a meter was never seen and the database is away.
   */
  hold(request: HoldRequest): HoldDecision | Promise<HoldDecision>;
  /**
   * Ends a hold: what was spent is added to every meter it was held on, the rest is free again. 0 releases it.
   * Ending one that is not known (expired, held by another node) adds the spending to `meters`, and once per id: ids are
   * remembered for 15 minutes in Redis, and the last 65 536 by each node. A meter never seen is left alone: its first
   * hold asks the database, which knows of this by then. So whatever is to be counted at once is held first.
   */
  settle(id: string, meters: readonly string[], spent: bigint): void;

  /** What the meter says now; null for one never seen. For `GET /v1/usage` and the console. */
  read(meter: string): MeterState | null | Promise<MeterState | null>;
  /** True while Redis is lost and this node keeps to its share of every limit. Never with one node in memory. */
  readonly degraded: boolean;
  /** Waits for settlements that are on their way. */
  close(): Promise<void>;
}

export interface RateRequest {
  /** The exchange. */
  readonly id: string;
  readonly limits: readonly RateLimit[];
}

/**
 * At most `limit` requests in any span of `windowMs`; `windowMs` 0: at most `limit` under way at once. Exact up to
 * 2 048 in a window; above, what has left the window counts for up to a 64th of it longer. Another limit under the same
 * name finds what was admitted before it. A limit of 0 admits nobody.
 */
export interface RateLimit {
  /** `key:<id>:rpm`, `key:<id>:rph`, `key:<id>:concurrency`, `key:<id>:burst`, `team:<id>:rpm`. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
}

export type RateDecision =
  | { readonly admitted: true }
  /**
   * `denied`: the first limit without room. `retryAfterMs`: whole and at least 1; after it the same request is admitted
   * if nobody else came: the longest wait of all limits. 1 000 where only a slot is missing: nobody knows when one is
   * given back. Null where a limit is 0: never, and that limit is the one denied.
   */
  | { readonly admitted: false; readonly denied: string; readonly retryAfterMs: number | null };

/** Amounts are nano-USD. */
export interface HoldRequest {
  /** The exchange. One hold per id. */
  readonly id: string;
  /**
   * The upper bound of the cost. When a meter has less left, all of what is left is held instead: for one request at a
   * time on each meter, since every one of them may spend more than it holds. Others are refused as if nothing were left.
   */
  readonly amount: bigint;
  /** In the order in which the first exhausted one is named. */
  readonly meters: readonly Meter[];
  /** Unix milliseconds: a hold nobody ended by then is void, at most a second later. */
  readonly expiresAt: number;
}

/** Money that may be spent: a balance, a quota, or a budget within one window. */
export interface Meter {
  /**
   * `user:<id>:balance`, `user:<id>:quota`, `key:<id>:quota`, `team:<id>:balance`, `team:<id>:daily:2026-11-21`,
   * `team:<id>:monthly:2026-11`, `team:<id>:total`, `team:<id>:member:<user id>`.
   */
  readonly name: string;
  /** All that may ever be spent on it; for a balance everything credited so far. `unlimited`: it is only counted. */
  readonly limit: bigint;
  /**
   * With less than this left, nothing is admitted: 10_000_000n (0.01 USD) for balances, 1n else. With nothing left
   * nothing is, whatever the floor.
   */
  readonly floor: bigint;
}

/** More than can ever be spent: amounts have 64 bits. */
export const unlimited = 2n ** 63n - 1n;

export type HoldDecision =
  | { readonly held: true; readonly amount: bigint }
  /** `denied`: the first meter without enough. Null when the admission of the same id, asked for before, was denied. */
  | { readonly held: false; readonly denied: string | null };

export interface MeterState {
  readonly spent: bigint;
  readonly held: bigint;
}

/**
 * What has been spent on meters according to the database: where counting starts from. Unknown meters are 0. What an
 * earlier process has journaled must be in it: it would not be counted otherwise. What this one has settled need not
 * be: all meters of a charge are held first, and known from then on.
 */
export type SpentSource = (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
