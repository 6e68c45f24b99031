import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { errorOfFailure } from '../../attempts/error-of-failure.ts';
import type { AttemptFailure } from '../../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../../attempts/sender.ts';
import type { ExchangeInput } from '../../exchange/input.ts';
import type { SentRequest } from '../../exchange/tried.ts';
import type { StreamSink } from '../../streams/stream-sink.ts';
import { ImageStreamAttempt, type ImageStreamOutcome } from '../image-stream-attempt.ts';
import { createStreamMeter } from '../stream-meter.ts';
import { streamSurroundings } from '../stream-surroundings.ts';
import type { PictureParts } from './parts.ts';
import { PictureRequests, type RouteRequest } from './picture-requests.ts';
import type { ConvertiblePictures } from './prepared.ts';
import type { StreamedPictures } from './streamed-pictures.ts';
import type { PictureSide } from './surface.ts';

/**
 * Sends a request whose pictures the client wants in a stream. Only upstreams of the client's own protocol stream them;
 * the others respond with all of them at once.
 */
export class PictureStreamSender implements Sender<SentRequest, ImageStreamOutcome> {
  readonly kind = 'stream';
  readonly isCostly = true;
  readonly model: string;
  readonly #parts: PictureParts;
  readonly #streamed: StreamedPictures;
  readonly #input: ExchangeInput;
  readonly #prepared: ConvertiblePictures;
  readonly #requests: PictureRequests;
  readonly #sink: StreamSink;

  constructor(
    parts: PictureParts,
    { side, streamed }: { readonly side: PictureSide; readonly streamed: StreamedPictures },
    input: ExchangeInput,
    prepared: ConvertiblePictures,
    sink: StreamSink,
  ) {
    this.model = prepared.opened.model;
    this.#parts = parts;
    this.#streamed = streamed;
    this.#input = input;
    this.#prepared = prepared;
    this.#requests = new PictureRequests(parts, side, input, prepared);
    this.#sink = sink;
  }

  prepare(route: Route): Promise<GatewayError | null> | null {
    return this.#requests.prepare(route);
  }

  build(route: Route): ReadyRequest<SentRequest, ImageStreamOutcome> {
    const request = this.#requests.take(route);
    return {
      sent: request.sent,
      send: (lease, started) => this.#send(route, request, lease, started),
    };
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, null);
  }

  #send(
    route: Route,
    request: RouteRequest,
    lease: ChannelLease,
    started: number,
  ): ImageStreamAttempt {
    const parts = this.#parts;
    const input = this.#input;
    const prepared = this.#prepared;
    const { missingUsage } = parts;
    const { isOwn, sent } = request;
    const meter = createStreamMeter(prepared, missingUsage, isOwn);
    const echo = { clientModel: this.model, upstreamModel: route.upstreamModel };
    const asked = this.#requests.asked(route, request, lease.secret, isOwn);
    const call = { route, lease, sent, started };
    return new ImageStreamAttempt(asked, {
      ...streamSurroundings(parts, input, this.#sink, prepared.reserved, call),
      events: this.#streamed,
      // What was converted has been measured as a whole.
      tap: this.#streamed.createTap(echo, isOwn ? meter.accepts : () => true),
      meter,
      reader: this.#requests.readerFor(route, request),
      onAnswered: () => prepared.opened.done(),
    });
  }
}
