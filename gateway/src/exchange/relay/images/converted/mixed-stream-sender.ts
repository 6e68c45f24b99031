import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { images } from '#protocols/index.ts';
import type { AttemptFailure } from '../../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../../attempts/sender.ts';
import type { SentRequest } from '../../exchange/tried.ts';
import type { StreamSink } from '../../streams/stream-sink.ts';
import type { ImageStreamOutcome } from '../image-stream-attempt.ts';
import { ImageStreamSender } from '../image-stream-sender.ts';
import type { ImageInput } from '../input.ts';
import type { PreparedImages } from '../prepared.ts';
import { convertible, isNative, side } from './mixed-sender.ts';
import type { PictureParts } from './parts.ts';
import { PictureStreamSender } from './picture-stream-sender.ts';
import type { StreamedPictures } from './streamed-pictures.ts';

/** Sends a streamed request for images unchanged to upstreams that speak its protocol, and converted to the others. */
export class MixedStreamSender implements Sender<SentRequest, ImageStreamOutcome> {
  readonly kind = 'stream';
  readonly isCostly = true;
  readonly model: string;
  readonly #same: ImageStreamSender;
  readonly #converting: PictureStreamSender;

  constructor(parts: PictureParts, input: ImageInput, prepared: PreparedImages, sink: StreamSink) {
    this.model = prepared.request.model;
    this.#same = new ImageStreamSender(parts, input, prepared, sink);
    this.#converting = new PictureStreamSender(
      parts,
      { side, streamed: streamedTo(input) },
      input,
      convertible(parts, prepared, input),
      sink,
    );
  }

  prepare(route: Route): Promise<GatewayError | null> | null {
    return this.#for(route).prepare(route);
  }

  build(route: Route): ReadyRequest<SentRequest, ImageStreamOutcome> {
    return this.#for(route).build(route);
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return this.#same.errorOf(failure);
  }

  #for(route: Route): ImageStreamSender | PictureStreamSender {
    return isNative(route) ? this.#same : this.#converting;
  }
}

function streamedTo({ form, headers }: ImageInput): StreamedPictures {
  const names = images.eventNamesFor(form, headers);
  return {
    isWholeEvent: images.isWholeEvent,
    toEvents: images.toEvents,
    createTap: (echo, accepts) => images.createStreamTap({ ...echo, names, accepts }),
  };
}
