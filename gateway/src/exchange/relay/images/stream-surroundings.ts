import type { Route } from '#catalogue/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { keepAliveOf, totalDeadline } from '../attempts/deadlines.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import type { ExchangeInput } from '../exchange/input.ts';
import { responseHeaders } from '../exchange/response-headers.ts';
import type { SentRequest } from '../exchange/tried.ts';
import type { StreamSink } from '../streams/stream-sink.ts';
import type { ImageStreamOptions } from './image-stream-attempt.ts';
import type { ImageParts } from './parts.ts';

/** One call of an upstream. */
export interface StreamCall {
  readonly route: Route;
  readonly lease: ChannelLease;
  readonly sent: SentRequest;
  /** By the monotonic clock, in milliseconds. */
  readonly started: number;
}

type Surroundings = Omit<ImageStreamOptions, 'events' | 'tap' | 'meter' | 'reader' | 'onAnswered'>;

/**
 * What a stream of pictures needs whichever protocol the upstream speaks.
 * @param reserved memory for the response, in bytes
 */
export function streamSurroundings(
  { upstream, ticker, timeouts, clock, health, onUnexpectedError }: ImageParts,
  input: ExchangeInput,
  sink: StreamSink,
  reserved: number,
  { route, lease, sent, started }: StreamCall,
): Surroundings {
  return {
    upstream,
    client: input.client,
    sink,
    ticker,
    monotonic: clock.monotonic,
    keepAliveMs: keepAliveOf(input, route.channel, timeouts),
    deadline: totalDeadline(input, route.channel, timeouts),
    memory: input.memory,
    reserved,
    headers: () => responseHeaders(sent),
    onFirstContent() {
      const now = clock.monotonic();
      health.begun(lease, route, now);
      health.took(lease, 'stream', now - started);
      sent.ttftMs = now - input.startedAt;
    },
    errorOf: (failure) => errorOfFailure(failure, null),
    onDefect: (error) => onUnexpectedError(error, input.id),
  };
}
