import type { Channel } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { ExchangeInput } from '../exchange.ts';

/** An error must reach the client before it leaves: milliseconds, of a short time a quarter. */
const ahead = 250;

/**
 * The monotonic time by which the client must have an answer, shortly before it gives up, as its SDK announces (seconds):
 * `x-stainless-timeout`, and `x-stainless-read-timeout` for the longest time without a byte. Infinity without them. The SDKs
 * stop the first clock when the response's head arrives, so it does not bind a stream that has been opened.
 */
export function clientDeadline({
  headers,
  startedAt,
}: Pick<ExchangeInput, 'headers' | 'startedAt'>): number {
  const patience = Math.min(
    announcedMs(headers['x-stainless-timeout']),
    announcedMs(headers['x-stainless-read-timeout']),
  );
  if (patience === Number.POSITIVE_INFINITY) return patience;
  return startedAt + patience - Math.min(ahead, patience / 4);
}

/**
 * After how many milliseconds of silence a streaming client gets a keep-alive: half of the longest that it waits for, if
 * it announces that. Only Python's SDKs watch an open stream.
 */
export function keepAliveOf(
  { headers }: Pick<ExchangeInput, 'headers'>,
  channel: Pick<Channel, 'timeouts'>,
  timeouts: Pick<Timeouts, 'keepaliveComment'>,
): number {
  const set = channel.timeouts.keepaliveComment ?? timeouts.keepaliveComment;
  return Math.min(set, announcedMs(headers['x-stainless-read-timeout']) / 2);
}

/** Milliseconds; infinity without a number: some SDKs send `NOT_GIVEN`. */
function announcedMs(text: string | string[] | undefined): number {
  if (typeof text !== 'string') return Number.POSITIVE_INFINITY;
  const seconds = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : 0;
  return seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY;
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
