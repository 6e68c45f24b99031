import type { Channel } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { ChannelHealth } from '#routing/index.ts';
import type { UpstreamClient } from '#upstream/index.ts';
import type { ClientResponse, ExchangeInput, RequestMemory } from '../exchange.ts';
import type { DrainSlots } from '../overload/concurrency-gate.ts';
import type { Clock, Ticker } from '../ticker.ts';

/** What a plan says of its attempts. */
export interface AttemptTerms {
  /**
   * What happens when the client leaves. `cancel`: the upstream is cancelled. `drain`: the response is read for its
   * cost, if there is a slot. `finish`: it is read to its end, or to the deadline, once it has been asked for: neither
   * leaving nor a short patience makes free what was asked for.
   */
  readonly onLeave: 'cancel' | 'drain' | 'finish';
  /** Limits the memory for a large response; absent: it is not limited. */
  readonly memory?: RequestMemory | undefined;
  /** In bytes of the response: what `memory` already holds for it. */
  readonly reservedBytes?: number | undefined;
  /** Called when a response without an error begins. If such an attempt fails, a costly request is not sent again. */
  readonly onAnswered?: (() => void) | undefined;
}

export interface AttemptOptions extends AttemptTerms {
  readonly upstream: UpstreamClient;
  readonly client: Pick<ClientResponse, 'disconnected' | 'fail' | 'failedWith'>;
  readonly ticker: Pick<Ticker, 'add'>;
  readonly monotonic: () => number;
  readonly drains: DrainSlots;
  /** Monotonic time after which the attempt is given up. */
  readonly deadline: number;
  /** Monotonic time until which the client waits for the response to begin. */
  readonly clientDeadline: number;
  /** Called with a defect of the gateway that no caller would see. */
  readonly onDefect: (error: unknown) => void;
}

export function attemptOptions(
  { upstream, ticker, clock, timeouts, drains, onUnexpectedError }: Omit<AttemptParts, 'health'>,
  input: Pick<ExchangeInput, 'id' | 'headers' | 'startedAt'> & Pick<AttemptOptions, 'client'>,
  channel: Pick<Channel, 'timeouts'>,
  { onLeave, memory, reservedBytes, onAnswered }: AttemptTerms,
): AttemptOptions {
  return {
    upstream,
    client: input.client,
    ticker,
    monotonic: clock.monotonic,
    onLeave,
    memory,
    reservedBytes,
    onAnswered,
    drains,
    deadline: totalDeadline(input, channel, timeouts),
    clientDeadline: onLeave === 'finish' ? Number.POSITIVE_INFINITY : clientDeadline(input),
    onDefect: (error) => onUnexpectedError(error, input.id),
  };
}

/** What is needed to send requests upstream. */
export interface AttemptParts {
  readonly upstream: UpstreamClient;
  readonly health: ChannelHealth;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly ticker: Ticker;
  readonly drains: DrainSlots;
  /** Called with defects of the gateway and the exchange that they affect. */
  readonly onUnexpectedError: (error: unknown, exchangeId: string) => void;
}

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
