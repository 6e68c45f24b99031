import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { answer, type ExchangePlan } from '../answer.ts';
import { keepAliveOf, totalDeadline } from '../attempts/deadlines.ts';
import type { Receiver } from '../attempts/receiver.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import type { RequestPlan } from '../attempts/request-plan.ts';
import type { Exchange, ExchangeInput } from '../exchange.ts';
import { type Measured, responseHeaders, type SentRequest } from '../ending/record.ts';
import type { StreamSink } from '../stream-sink.ts';
import { type CompleteImages, ImageStream, type ImageStreamOptions } from './image-stream.ts';
import type { ImageParts } from './prepared.ts';

/** How the events of one response are read. */
export type EventReading = Pick<ImageStreamOptions, 'events' | 'tap' | 'meter' | 'reader'>;

/** A request for images in the form of one upstream. `Whole`: a response that comes whole. */
export interface FormedRequest<Whole> {
  readonly sentRequest: SentRequest;
  request(secret: string | null): UpstreamRequest;
  whole(): Receiver<Whole, never>;
  /** Called if the client wants a stream. */
  events(): EventReading;
}

/** Makes the requests to upstreams of one kind. */
export interface ImageRequests<Whole> {
  /** Whatever has to happen before; resolves to the reason why the route cannot be asked (`RequestPlan.unable`). */
  unable(route: Route): Promise<GatewayError | null> | null;
  /** Called once for each attempt. */
  take(route: Route): FormedRequest<Whole>;
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
  readonly reservedBytes: number;
  /** The members of the request, which errors may name; null: they name none. */
  readonly members: Readonly<Record<string, unknown>> | null;
}

const noBody = Buffer.alloc(0);

/**
 * Answers with images that come whole.
 * @throws GatewayError when nothing has been written to the client yet; SpoolFailure when the response broke off.
 */
export function answerWhole<Whole extends { readonly measuredUsage: Measured }>(
  parts: ImageParts,
  exchange: Exchange,
  serving: ImageServing<Whole>,
  form: Pick<ExchangePlan<SentRequest, Whole, never>, 'sink' | 'write' | 'encodeError'>,
): Promise<void> {
  const { input } = exchange;
  // The prepared request owns the bytes now; hashing megabytes for the log is not worth it.
  input.body = noBody;
  return answer(parts, exchange, {
    ...routesOf(input, serving, (formedRequest) => formedRequest.whole()),
    ...form,
    kind: 'buffered',
    measure: ({ measuredUsage }) => measuredUsage,
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
    ...routesOf(input, serving, (formedRequest, route, lease) =>
      streamOf(parts, input, sink, formedRequest, route, lease),
    ),
    kind: 'stream',
    sink,
    measure: ({ measuredUsage }: CompleteImages) => measuredUsage,
    measureBroken: ({ seenResponse }) => seenResponse,
    write({ rest }, headers) {
      sink.open(headers);
      sink.end(rest);
    },
    encodeError,
  });
}

/** The receiver lives as long as the response, so it holds nothing of the request. */
function streamOf(
  parts: ImageParts,
  input: ExchangeInput,
  sink: StreamSink,
  formedRequest: Pick<FormedRequest<never>, 'sentRequest' | 'events'>,
  route: Route,
  lease: ChannelLease,
): ImageStream {
  const { clock, health, timeouts } = parts;
  const { sentRequest } = formedRequest;
  const receiver: ImageStream = new ImageStream({
    ...formedRequest.events(),
    sink,
    monotonic: clock.monotonic,
    keepAliveMs: keepAliveOf(input, route.channel, timeouts),
    deadline: totalDeadline(input, route.channel, timeouts),
    headers: () => responseHeaders(sentRequest),
    onFirstContent() {
      const now = clock.monotonic();
      health.reportBegin(lease, route, now);
      health.took(lease, 'stream', now - receiver.attempt.startedAt);
      sentRequest.ttftMs = now - input.startedAt;
    },
  });
  return receiver;
}

/** Requests for images, which the upstream charges for even if they are lost. */
function routesOf<Whole, Result, Seen>(
  { memory }: Pick<ExchangeInput, 'memory'>,
  { model, routes, requestsTo, reservedBytes, members }: ImageServing<Whole>,
  receive: (
    formedRequest: FormedRequest<Whole>,
    route: Route,
    lease: ChannelLease,
  ) => Receiver<Result, Seen>,
): Omit<RequestPlan<SentRequest, Result, Seen>, 'kind'> {
  return {
    routes,
    model,
    isCostly: true,
    unable: (route) => requestsTo(route).unable(route),
    request(route, lease) {
      const requests = requestsTo(route);
      const formedRequest = requests.take(route);
      return {
        sentRequest: formedRequest.sentRequest,
        upstream: formedRequest.request(lease.secret),
        receiver: receive(formedRequest, route, lease),
        onLeave: 'finish',
        memory,
        reservedBytes,
        onAnswered: () => requests.done(),
      };
    },
    errorOf: (failure) => errorOfFailure(failure, members),
  };
}
