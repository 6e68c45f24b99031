import type { Channel } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { ExchangeInput } from '../exchange/input.ts';

/**
 * The monotonic time after which the client has given up, as its SDK says in `x-stainless-timeout` (seconds);
 * infinity when it does not. The SDKs stop their clock at the response's head, so a stream that has been opened is
 * not bound by it.
 */
export function clientDeadline({
  headers,
  startedAt,
}: Pick<ExchangeInput, 'headers' | 'startedAt'>): number {
  const text = headers['x-stainless-timeout'];
  if (typeof text !== 'string') return Number.POSITIVE_INFINITY;
  const seconds = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  return seconds > 0 ? startedAt + seconds * 1000 : Number.POSITIVE_INFINITY;
}

/** The monotonic time at which a request has taken all the time that a channel gives it, whoever was asked before. */
export function totalDeadline(
  { startedAt }: Pick<ExchangeInput, 'startedAt'>,
  channel: Pick<Channel, 'timeouts'>,
  timeouts: Pick<Timeouts, 'total'>,
): number {
  return startedAt + (channel.timeouts.total ?? timeouts.total);
}
