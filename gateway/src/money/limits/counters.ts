/**
 * Counts rates, concurrent requests, and money held and spent. Two implementations pass one suite: in memory for one
 * node, in Redis for several. Every step is all-or-nothing, and none waits for the database.
 *
 * In memory, results are immediate; from Redis they are promises. Callers check with `instanceof Promise`, so that the
 * common case costs no turn of the event loop.
 */
export interface Counters {
  /** Counts a request against every rate and takes a slot of every concurrency limit, or does neither. */
  checkRates(request: RateRequest): RateDecision | Promise<RateDecision>;
  /** Releases the slots of a request once its `admit` has resolved. Idempotent. */
  leave(id: string): void;

  /**
   * Reserves money on every meter, or on none. Repeating it with the id of an open hold returns the same decision. It
   * may be called before `admit` of the same id has resolved; if that is denied, nothing is held, unless Redis fails in
   * between or a second passes.
   * @throws GatewayError `unavailable` if a meter is unknown and the database is unreachable.
   */
  hold(request: HoldRequest): HoldDecision | Promise<HoldDecision>;
  /**
   * Tells that the hold will end with this charge, whose record is about to be written: `commitHold` follows. Call it at
   * most once.
   * @param meters all meters of the charge
   * @returns the leases in which the charge lies, for its record; null: in none.
   */
  charge(id: string, meters: readonly string[], cost: bigint): ChargedLease | null;
  /**
   * Ends a hold: adds what was spent to every meter of the hold and frees the rest. 0 releases the hold. For an unknown
   * hold (expired, or made by another node) the spending is added to `meters`, once per id: Redis remembers ids for 15
   * minutes, and each node its last 65 536. An unknown meter is skipped: its first hold reads the database, which
   * includes this spending by then. To count spending at once, hold first.
   */
  commitHold(id: string, meters: readonly string[], spent: bigint): void;

  /** The current state of a meter; null for an unknown one. For `GET /v1/usage` and the console. */
  read(meter: string): MeterState | null | Promise<MeterState | null>;
  /** True while Redis is unreachable and this node enforces its share of every limit. Always false in memory. */
  readonly degraded: boolean;
  /** Waits for settlements in progress. */
  close(): Promise<void>;
}

/** Where a charge lies. */
export interface ChargedLease {
  /** The process that leased the money. */
  readonly life: string;
  /** For each meter of the charge: the part that lies in a lease, in decimal digits of nano-USD. */
  readonly parts: readonly string[];
}

export interface RateRequest {
  /** The id of the exchange. */
  readonly id: string;
  readonly limits: readonly RateLimit[];
}

/**
 * At most `limit` requests in any span of `windowMs`; with `windowMs` 0, at most `limit` concurrent requests. Exact up
 * to 2 048 per window; above that, a request counts for up to a 64th of the window too long. A changed limit under the
 * same name keeps what was admitted before. A limit of 0 admits nothing.
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
   * `denied`: the first limit without room. `retryAfterMs`: a whole number of at least 1, the longest wait of all
   * limits; after it the same request is admitted unless others came first. 1 000 if only a slot is missing, because
   * nobody knows when a slot is released. Null if a limit is 0: waiting does not help, and that limit is `denied`.
   */
  | { readonly admitted: false; readonly denied: string; readonly retryAfterMs: number | null };

/** Amounts are nano-USD. */
export interface HoldRequest {
  /** The id of the exchange; one hold per id. */
  readonly id: string;
  /**
   * The upper bound of the cost. If a meter has less left, the hold takes all that is left, but only one such hold at a
   * time per meter, because each may spend more than it holds. Further requests are refused as if nothing were left.
   */
  readonly amount: bigint;
  /** In order of precedence: the first exhausted meter is the one named. */
  readonly meters: readonly Meter[];
  /** Unix milliseconds. An unfinished hold expires then, at most a second later. */
  readonly expiresAt: number;
}

/** A budget to spend from: a balance, a quota, or a budget within one window. */
export interface Meter {
  /**
   * `user:<id>:balance`, `user:<id>:quota`, `key:<id>:quota`, `team:<id>:balance`, `team:<id>:daily:2026-11-21`,
   * `team:<id>:monthly:2026-11`, `team:<id>:total`, `team:<id>:member:<user id>`.
   */
  readonly name: string;
  /**
   * The most that may ever be spent on it; for a balance, the sum of all credits. `unlimited`: spending is only
   * counted.
   */
  readonly limit: bigint;
  /**
   * Nothing is admitted with less than this left: 10_000_000n (0.01 USD) for balances, otherwise 1n. With nothing left
   * nothing is admitted, whatever the floor.
   */
  readonly floor: bigint;
}

/** More than can ever be spent, since amounts have 64 bits. */
export const unlimited = 2n ** 63n - 1n;

export type HoldDecision =
  | { readonly held: true; readonly amount: bigint }
  /** `denied`: the first meter without enough left. Null if `admit` of the same id was denied before. */
  | { readonly held: false; readonly denied: string | null };

export interface MeterState {
  readonly spent: bigint;
  readonly held: bigint;
}

/**
 * The amounts spent on meters according to the database, from which counting starts. Unknown meters are 0. The result
 * must include everything an earlier process journaled, because nothing else would count it. It need not include
 * settlements of this process: a charge first holds all its meters, which makes them known here.
 */
export type SpentSource = (meters: readonly string[]) => Promise<ReadonlyMap<string, bigint>>;
