import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { answer, type Plan } from '../answer.ts';
import { attemptOptions, type AttemptOptions } from '../attempts/attempt-options.ts';
import { Attempt, type Receiver } from '../attempts/attempt.ts';
import { keepAliveOf, totalDeadline } from '../attempts/deadlines.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import type { OutcomeOf } from '../attempts/outcome.ts';
import type { Sender } from '../attempts/sender.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { ExchangeInput } from '../exchange/input.ts';
import { type Measured, responseHeaders, type SentRequest } from '../exchange/record.ts';
import type { StreamSink } from '../streams/stream-sink.ts';
import { type CompleteImages, ImageStream, type ImageStreamOptions } from './image-stream.ts';
import type { ImageParts } from './prepared.ts';

/** How the events of one response are read. */
export type EventReading = Pick<ImageStreamOptions, 'events' | 'tap' | 'meter' | 'reader'>;

/** A request for images in the form of one upstream. `Whole`: a response that comes whole. */
export interface RoutedRequest<Whole> {
  readonly sent: SentRequest;
  request(secret: string | null): UpstreamRequest;
  whole(): Receiver<Whole, never>;
  /** Called if the client wants a stream. */
  events(): EventReading;
}

/** Makes the requests to upstreams of one kind. */
export interface ImageRequests<Whole> {
  /** Whatever has to happen before; resolves to the reason why the route cannot be asked (`Sender.prepare`). */
  prepare(route: Route): Promise<GatewayError | null> | null;
  /** Called once for each attempt. */
  take(route: Route): RoutedRequest<Whole>;
  /** The request will not be sent again: releases what it takes. */
  done(): void;
}

/** Where images are asked for. */
export interface ImageServing<Whole> {
  /** As the client wrote it. */
  readonly model: string;
  /** In the order to try them. */
  readonly routes: readonly Route[];
  readonly requestsTo: (route: Route) => ImageRequests<Whole>;
  /** In bytes: the memory that is reserved for the response. */
  readonly reserved: number;
  /** The members of the request, which errors may name; null: they name none. */
  readonly members: Readonly<Record<string, unknown>> | null;
}

const noBody = Buffer.alloc(0);

/**
 * Answers with images that come whole.
 * @throws GatewayError when nothing has been written to the client yet; SpoolFailure when the response broke off.
 */
export function answerWhole<Whole extends { readonly measured: Measured }>(
  parts: ImageParts,
  exchange: Exchange,
  serving: ImageServing<Whole>,
  form: Pick<Plan<SentRequest, Whole, never>, 'sink' | 'write' | 'encodeError'>,
): Promise<void> {
  const { input } = exchange;
  // The prepared request owns the bytes now; hashing megabytes for the log is not worth it.
  input.body = noBody;
  return answer(parts, exchange, {
    ...form,
    routes: serving.routes,
    sender: senderOf(parts, input, serving, 'buffered', (routed) => routed.whole()),
    measure: ({ measured }) => measured,
  });
}

/**
 * Answers with images in a stream.
 * @param encodeError the last event of a stream that failed
 * @throws GatewayError when nothing has been written to the client yet.
 */
export function answerStream<Whole>(
  parts: ImageParts,
  exchange: Exchange,
  serving: ImageServing<Whole>,
  sink: StreamSink,
  encodeError: (error: GatewayError) => string,
): Promise<void> {
  const { input } = exchange;
  input.body = noBody;
  return answer(parts, exchange, {
    routes: serving.routes,
    sender: senderOf(parts, input, serving, 'stream', (routed, route, lease, started) =>
      streamOf(parts, input, sink, routed, { route, lease, started }),
    ),
    sink,
    measure: ({ measured }: CompleteImages) => measured,
    measureBroken: ({ seen }) => seen,
    write({ rest }, headers) {
      sink.open(headers);
      sink.end(rest);
    },
    encodeError,
  });
}

/** One call of an upstream. */
interface StreamCall {
  readonly route: Route;
  readonly lease: ChannelLease;
  /** By the monotonic clock, in milliseconds. */
  readonly started: number;
}

function streamOf(
  parts: ImageParts,
  input: ExchangeInput,
  sink: StreamSink,
  routed: Pick<RoutedRequest<never>, 'sent' | 'events'>,
  { route, lease, started }: StreamCall,
): ImageStream {
  const { clock, health, timeouts } = parts;
  const { sent } = routed;
  return new ImageStream({
    ...routed.events(),
    sink,
    monotonic: clock.monotonic,
    keepAliveMs: keepAliveOf(input, route.channel, timeouts),
    deadline: totalDeadline(input, route.channel, timeouts),
    headers: () => responseHeaders(sent),
    onFirstContent() {
      const now = clock.monotonic();
      health.begun(lease, route, now);
      health.took(lease, 'stream', now - started);
      sent.ttftMs = now - input.startedAt;
    },
    errorOf: (failure) => errorOfFailure(failure, null),
  });
}

/** Sends a request for images, which the upstream charges for even if they are lost. */
function senderOf<Whole, Result, Seen>(
  parts: ImageParts,
  input: ExchangeInput,
  { model, requestsTo, reserved, members }: ImageServing<Whole>,
  kind: 'stream' | 'buffered',
  receive: (
    routed: RoutedRequest<Whole>,
    route: Route,
    lease: ChannelLease,
    started: number,
  ) => Receiver<Result, Seen>,
): Sender<SentRequest, OutcomeOf<Result, Seen>> {
  return {
    model,
    kind,
    isCostly: true,
    prepare: (route) => requestsTo(route).prepare(route),
    build(route) {
      const requests = requestsTo(route);
      const routed = requests.take(route);
      return {
        sent: routed.sent,
        send(lease, started) {
          const request = routed.request(lease.secret);
          const options = optionsOf(parts, input, route, requests, reserved);
          return new Attempt(request, receive(routed, route, lease, started), options);
        },
      };
    },
    errorOf: (failure) => errorOfFailure(failure, members),
  };
}

/** The options live as long as the response, so they hold no request to a route. */
function optionsOf(
  parts: ImageParts,
  input: ExchangeInput,
  { channel }: Route,
  requests: Pick<ImageRequests<never>, 'done'>,
  reserved: number,
): AttemptOptions {
  return {
    ...attemptOptions(parts, input, channel, 'finish'),
    memory: input.memory,
    reserved,
    onAnswered: () => requests.done(),
  };
}
