const retriesPerRequest = 0.2;
const leastRetries = 3;
/** Weight of the newest attempt in the share of failures: about the last sixteen count. */
const newest = 1 / 16;

/**
 * How many of the attempts under way at one upstream may be second tries. An outage that makes every request fail
 * must not become several times the load for what is left.
 *
 * As long as fewer than one attempt in five fails there is no bound: second tries cannot then come to more than a
 * quarter of the requests, and a healthy channel has to be able to take over all that a failed one drops.
 * @see https://sre.google/sre-book/handling-overload/ "Deciding to retry"
 */
export class RetryBudget {
  #first = 0;
  #retries = 0;
  #failing = 0;

  /** May one more second try begin now? When in doubt, one per five first tries under way, and three at any time. */
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

  /** @param failed null when the attempt says nothing about the upstream. */
  leave(retry: boolean, failed: boolean | null): void {
    if (retry) this.#retries -= 1;
    else this.#first -= 1;
    if (failed !== null) this.#failing += (Number(failed) - this.#failing) * newest;
  }
}
