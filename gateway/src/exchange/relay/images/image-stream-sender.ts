import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { images } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import type { AttemptFailure } from '../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../attempts/sender.ts';
import { sentTo, type SentRequest } from '../exchange/tried.ts';
import type { StreamSink } from '../streams/stream-sink.ts';
import { imageRequest, imageVendor } from './image-request.ts';
import { ImageResponseReader } from './image-response-reader.ts';
import { ImageStreamAttempt, type ImageStreamOutcome } from './image-stream-attempt.ts';
import type { ImageInput } from './input.ts';
import type { ImageParts } from './parts.ts';
import type { PreparedImages } from './prepared.ts';
import { RequestForms } from './request-forms.ts';
import { createStreamMeter } from './stream-meter.ts';
import { streamSurroundings } from './stream-surroundings.ts';

/** Sends requests whose pictures are streamed. */
export class ImageStreamSender implements Sender<SentRequest, ImageStreamOutcome> {
  readonly kind = 'stream';
  readonly isCostly = true;
  readonly model: string;
  readonly #parts: ImageParts;
  readonly #input: ImageInput;
  readonly #prepared: PreparedImages;
  readonly #forms: RequestForms;
  readonly #sink: StreamSink;

  constructor(parts: ImageParts, input: ImageInput, prepared: PreparedImages, sink: StreamSink) {
    this.model = prepared.request.model;
    this.#parts = parts;
    this.#input = input;
    this.#prepared = prepared;
    this.#forms = new RequestForms(parts, prepared.request, input);
    this.#sink = sink;
  }

  prepare(route: Route): Promise<GatewayError | null> | null {
    return this.#forms.prepare(route);
  }

  build(route: Route): ReadyRequest<SentRequest, ImageStreamOutcome> {
    const sent = sentTo(route);
    return { sent, send: (lease, started) => this.#send(route, lease, sent, started) };
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, this.#prepared.request.members);
  }

  #send(route: Route, lease: ChannelLease, sent: SentRequest, started: number): ImageStreamAttempt {
    const parts = this.#parts;
    const input = this.#input;
    const prepared = this.#prepared;
    const { bodies, missingUsage } = parts;
    const vendor = imageVendor(route);
    const echo = { clientModel: prepared.request.model, upstreamModel: route.upstreamModel };
    const meter = createStreamMeter(prepared, missingUsage);
    const names = images.eventNamesFor(input.form, input.headers);
    const tap = images.createStreamTap({
      ...echo,
      names,
      accepts: (entry) => meter.accepts(entry),
    });
    const { keyId } = input.caller;
    const reader = new ImageResponseReader({ bodies, keyId, echo, prepared, missingUsage });
    const asked = imageRequest(parts, input, this.#forms.of(route), {
      route,
      vendor,
      secret: lease.secret,
    });
    const call = { route, lease, sent, started };
    return new ImageStreamAttempt(asked, {
      ...streamSurroundings(parts, input, this.#sink, prepared.reserved, call),
      events: images,
      tap,
      meter,
      reader,
      onAnswered: () => this.#forms.done(),
    });
  }
}
