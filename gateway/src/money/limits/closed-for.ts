import type { RateDecision, RateRequest } from './rates.ts';

/** A limit of 0 admits nothing, whatever was counted and however long one waits. Null if no limit is 0. */
export function closedFor({ limits }: RateRequest): RateDecision | null {
  const closed = limits.find(({ limit }) => limit <= 0);
  return closed === undefined ? null : { admitted: false, denied: closed.name, retryAfterMs: null };
}
