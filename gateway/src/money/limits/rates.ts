/**
 * Counts requests against rates and limits of concurrency. Two implementations pass one suite: in memory for one
 * process, in Redis for several. A request counts on all of its limits or on none.
 *
 * In memory, results are immediate; from Redis they are promises. Callers check with `instanceof Promise`, so that the
 * common case costs no turn of the event loop.
 */
export interface Rates {
  /** Counts a request against every rate and takes a slot of every concurrency limit, or does neither. */
  checkRates(request: RateRequest): RateDecision | Promise<RateDecision>;
  /** Releases the slots of a request once its `checkRates` has resolved. Idempotent. */
  leave(id: string): void;
  /** What is not as it should be, in words for `/ready`. */
  readonly degraded: readonly string[];
  /** The Redis that counts, as far as it says so; null: there is none. */
  readonly server: RatesServer | null;
  close(): Promise<void>;
}

export interface RatesServer {
  /** The policy by which it evicts keys, or `unknown`. Any but `noeviction` forgets what was counted. */
  readonly eviction: string;
  /** What outlives its process. */
  readonly persistence: 'none' | 'snapshots' | 'append-only' | 'unknown';
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
  /** `key:<id>:rpm`, `key:<id>:rph`, `key:<id>:concurrency`, `team:<id>:rpm`. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
}

export type RateDecision =
  | { readonly admitted: true }
  /**
   * `denied`: the first limit without room. `retryAfterMs`: a whole number of at least 1, the longest wait of all
   * limits; after it the same request is admitted unless others came first. 1 000 if only a slot is missing, because
   * it is unknown when a slot is released. Null if a limit is 0: waiting does not help, and that limit is `denied`.
   */
  | { readonly admitted: false; readonly denied: string; readonly retryAfterMs: number | null };

/** A limit of 0 admits nothing, whatever was counted and however long one waits. Null if no limit is 0. */
export function closedFor({ limits }: RateRequest): RateDecision | null {
  const closedLimit = limits.find(({ limit }) => limit <= 0);
  return closedLimit === undefined
    ? null
    : { admitted: false, denied: closedLimit.name, retryAfterMs: null };
}
