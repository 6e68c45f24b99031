import type { ExchangeInput } from './input.ts';

/**
 * How often the client's SDK has sent this request before, according to `x-stainless-retry-count`; 0 if the header is
 * absent or not a number. A repeated request is treated like any other; the count appears only in the log.
 */
export function retryCountOf({ headers }: Pick<ExchangeInput, 'headers'>): number {
  const text = headers['x-stainless-retry-count'];
  return typeof text === 'string' && /^\d{1,2}$/.test(text) ? Number(text) : 0;
}

/**
 * Whether the client may send the request again: after the statuses that the SDKs of both vendors retry (`shouldRetry`
 * in their clients), and after 499, because a client that did not wait may come back.
 */
export function mayBeRetried(status: number): boolean {
  return status >= 499 || status === 429 || status === 408 || status === 409;
}
