import type { RateDecision, RateRequest } from '../rates.ts';

/** The number of names kept. The oldest is dropped first, which costs one question to Redis. */
const mostNames = 50_000;

interface FullRate {
  readonly limit: number;
  readonly windowMs: number;
  readonly until: number;
}

/**
 * Remembers full windows, so that repeated refusals cost Redis nothing. A window can only be full for longer than
 * remembered, never shorter. A changed limit is checked in Redis again.
 */
export class Denials {
  readonly #monotonic: () => number;
  readonly #rates = new Map<string, FullRate>();

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /**
   * @param waits milliseconds per limit of the request, 0 if it had room
   * @param askedAt monotonic time of the question to Redis; the reply may have been in flight for a while
   */
  add({ limits }: RateRequest, waits: readonly number[], askedAt: number): void {
    for (const [at, { name, limit, windowMs }] of limits.entries()) {
      const wait = waits[at] ?? 0;
      // It is unknown when a concurrent request will leave.
      if (windowMs === 0 || wait <= 0) continue;
      put(this.#rates, name, { limit, windowMs, until: askedAt + wait });
    }
  }

  of({ limits }: RateRequest): RateDecision | null {
    if (this.#rates.size === 0) return null;
    const now = this.#monotonic();
    let deniedName: string | null = null;
    let longest = 0;
    for (const { name, limit, windowMs } of limits) {
      const fullRate = this.#rates.get(name);
      if (fullRate === undefined) continue;
      if (now >= fullRate.until || limit > fullRate.limit || windowMs !== fullRate.windowMs) {
        this.#rates.delete(name);
        continue;
      }
      deniedName ??= name;
      longest = Math.max(longest, fullRate.until - now);
    }
    return deniedName === null
      ? null
      : { admitted: false, denied: deniedName, retryAfterMs: Math.ceil(longest) };
  }
}

function put(map: Map<string, FullRate>, name: string, value: FullRate): void {
  map.delete(name);
  if (map.size >= mostNames) map.delete(map.keys().next().value!);
  map.set(name, value);
}
