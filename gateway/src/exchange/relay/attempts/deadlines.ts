import type { Channel } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { ExchangeInput } from '../exchange/input.ts';

/**
 * The monotonic time at which the client gives up, as its SDK announces in `x-stainless-timeout` (seconds); infinity
 * without that header. The SDKs stop this clock when the response's head arrives, so it does not bind a stream that has
 * been opened.
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

/**
 * The monotonic time at which the request has used up a channel's time limit, including the time that earlier channels
 * took.
 */
export function totalDeadline(
  { startedAt }: Pick<ExchangeInput, 'startedAt'>,
  channel: Pick<Channel, 'timeouts'>,
  timeouts: Pick<Timeouts, 'total'>,
): number {
  return startedAt + (channel.timeouts.total ?? timeouts.total);
}
