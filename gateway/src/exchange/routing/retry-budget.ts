const retriesPerRequest = 0.2;
const leastRetries = 3;
/** Weight of the latest attempt in the failure rate: about the last sixteen count. */
const newest = 1 / 16;

/**
 * Bounds the retries among the attempts in flight at one upstream. If an outage makes every request fail, retries must
 * not multiply the load on what is left.
 *
 * There is no bound while fewer than one attempt in five fails: retries then cannot exceed a quarter of the requests,
 * and a healthy channel must be able to take over everything a failed one drops.
 * @see https://sre.google/sre-book/handling-overload/ "Deciding to retry"
 */
export class RetryBudget {
  #first = 0;
  #retries = 0;
  #failing = 0;

  /**
   * Whether one more retry may begin. If failures are frequent: one per five first attempts in flight, and at least
   * three.
   */
  get allows(): boolean {
    return (
      this.#failing < retriesPerRequest ||
      this.#retries < Math.max(leastRetries, this.#first * retriesPerRequest)
    );
  }

  enter(retry: boolean): void {
    if (retry) this.#retries += 1;
    else this.#first += 1;
  }

  /** @param hasFailed null if the attempt says nothing about the upstream */
  leave(retry: boolean, hasFailed: boolean | null): void {
    if (retry) this.#retries -= 1;
    else this.#first -= 1;
    if (hasFailed !== null) this.#failing += (Number(hasFailed) - this.#failing) * newest;
  }
}
