import { pictureProtocolNames } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import type { GatewayError } from '#errors/index.ts';
import { pictures } from '#protocols/index.ts';
import type { AttemptFailure } from '../../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../../attempts/sender.ts';
import type { SentRequest } from '../../exchange/tried.ts';
import { ImageSender, type ImageOutcome } from '../image-sender.ts';
import { decodeImages } from '../images-in-thread.ts';
import type { ImageInput } from '../input.ts';
import type { PreparedImages } from '../prepared.ts';
import type { PictureParts } from './parts.ts';
import { PictureSender } from './picture-sender.ts';
import type { ConvertiblePictures } from './prepared.ts';
import type { PictureSide } from './surface.ts';

export const side: PictureSide = { protocol: 'images', upstreams: pictureProtocolNames };

/** The protocols in which upstreams can take a request for images. Layers are not converted. */
export function upstreamsOf({
  layers,
}: Pick<PreparedImages['request'], 'layers'>): PictureSide['upstreams'] {
  return layers ? ['images'] : side.upstreams;
}

/** The channel takes the request as it is. */
export function isNative({ channel }: Route): boolean {
  return channel.protocols.includes('images');
}

/** Sends a request for images unchanged to upstreams that speak its protocol, and converted to the others. */
export class MixedImageSender implements Sender<SentRequest, ImageOutcome> {
  readonly kind = 'buffered';
  readonly isCostly = true;
  readonly model: string;
  readonly #same: ImageSender;
  readonly #converting: PictureSender;

  constructor(parts: PictureParts, input: ImageInput, prepared: PreparedImages) {
    this.model = prepared.request.model;
    this.#same = new ImageSender(parts, input, prepared);
    this.#converting = new PictureSender(parts, side, input, convertible(parts, prepared, input));
  }

  prepare(route: Route): Promise<GatewayError | null> | null {
    return this.#for(route).prepare(route);
  }

  build(route: Route): ReadyRequest<SentRequest, ImageOutcome> {
    return this.#for(route).build(route);
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return this.#same.errorOf(failure);
  }

  #for(route: Route): ImageSender | PictureSender {
    return isNative(route) ? this.#same : this.#converting;
  }
}

/** The request, for upstreams of other protocols. */
export function convertible(
  parts: PictureParts,
  { request, model, rates, surcharges, reserved }: PreparedImages,
  input: ImageInput,
): ConvertiblePictures {
  const { arrivedAt, memory, upload } = input;
  const opened: ConvertiblePictures['opened'] = {
    model: request.model,
    read: () => decodeImages(parts, input, request),
    done() {
      // A small body stays in memory.
      if (upload === undefined) return;
      upload.done();
      memory?.forgetBody();
    },
    refusal: null,
    own: null,
    encode: (response) =>
      pictures.images.encodeResponse(response, { createdAt: Math.floor(arrivedAt / 1000) }),
  };
  return { opened, request, model, rates, surcharges, reserved };
}
