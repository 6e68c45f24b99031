import type { ExchangeInput } from './input.ts';

/**
 * How often the client's SDK has sent this request before, as it says in `x-stainless-retry-count`; 0 when it does not,
 * or says nonsense. Each try is a request like any other: nothing but the log follows from it.
 */
export function retryCountOf({ headers }: Pick<ExchangeInput, 'headers'>): number {
  const text = headers['x-stainless-retry-count'];
  return typeof text === 'string' && /^\d{1,2}$/.test(text) ? Number(text) : 0;
}

/**
 * Whether another try may follow: what the SDKs of both vendors send again (`shouldRetry` of their clients), and 499,
 * which is a client that would not wait, for whatever reason.
 */
export function mayBeRetried(status: number): boolean {
  return status >= 499 || status === 429 || status === 408 || status === 409;
}
