import { type BodyPool, functions, isReadInThread } from '#body-work/index.ts';
import type { ImageRequest } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { type ImagesRequest, images } from '#protocols/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { type Vendor, vendorOf } from '#vendors/index.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import { sentTo } from '../ending/record.ts';
import { ImageResponseReader } from './image-response-reader.ts';
import { createStreamMeter } from './measure-images.ts';
import type { EventReading, FormedRequest, ImageRequests } from './image-plan.ts';
import type { ImageBody, ImageInput, ImageParts, PreparedImages } from './prepared.ts';
import { SpooledResponse, type StoredImages } from './spooled-response.ts';

const allowedHeaders: readonly string[] = [...allowedAnywhere, 'openai-beta'];

/**
 * The client's bytes unchanged, except for the model's name at the channel. Where an upstream has no endpoint for edits,
 * an edit is sent as a generation.
 */
export class NativeRequests implements ImageRequests<StoredImages> {
  readonly #parts: ImageParts;
  readonly #input: ImageInput;
  readonly #preparedImages: PreparedImages;
  #generation: ImagesRequest | null = null;

  constructor(parts: ImageParts, input: ImageInput, preparedImages: PreparedImages) {
    this.#parts = parts;
    this.#input = input;
    this.#preparedImages = preparedImages;
  }

  unable(route: Route): Promise<GatewayError | null> | null {
    return this.#isConverted(route) && this.#generation === null ? this.#convert() : null;
  }

  take(route: Route): FormedRequest<StoredImages> {
    const { space, request } = this.#preparedImages;
    const { missingUsage } = this.#parts;
    const preparedImages = this.#preparedImages;
    const echo = { clientModel: request.model, upstreamModel: route.upstreamModel };
    return {
      sentRequest: sentTo(route),
      request: (secret) => this.#request(route, secret),
      whole: () => new SpooledResponse({ space, echo, prepared: preparedImages, missingUsage }),
      events: () => this.#events(echo),
    };
  }

  done(): void {
    this.#generation = null;
    releaseUpload(this.#input);
  }

  #isConverted({ channel }: Route): boolean {
    return this.#preparedImages.request.form === 'edit' && vendorOf(channel)?.lacksEdits === true;
  }

  async #convert(): Promise<GatewayError | null> {
    try {
      const { request } = this.#preparedImages;
      const name = 'editAsGeneration';
      this.#generation = await callWithImages(this.#parts, this.#input, name, request);
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  /** @throws GatewayError `internal_error` for a route that was not prepared */
  #request(route: Route, secret: string | null): UpstreamRequest {
    const { headers } = this.#input;
    const { timeouts } = this.#parts;
    const request = this.#isConverted(route) ? this.#generation : this.#preparedImages.request;
    if (request === null) throw new GatewayError('internal_error');
    const upstreamRequest = buildUpstreamRequest({
      operation: 'generate',
      isEdit: request.form === 'edit',
      route,
      vendor: imageVendor(route),
      secret,
      protocol: 'images',
      body: bodyFor(request, route.upstreamModel),
      contentType: request.contentType,
      clientHeaders: headers,
      forwarded: forwardedHeaders(headers, allowedHeaders),
      stream: request.stream,
      timeouts,
    });
    return forImages(upstreamRequest);
  }

  #events(echo: { readonly clientModel: string; readonly upstreamModel: string }): EventReading {
    const { bodies, missingUsage } = this.#parts;
    const { form, headers, caller } = this.#input;
    const preparedImages = this.#preparedImages;
    const { keyId } = caller;
    const meter = createStreamMeter(preparedImages, missingUsage);
    const names = images.eventNamesFor(form, headers);
    return {
      events: images,
      tap: images.createStreamTap({ ...echo, names, accepts: (entry) => meter.accepts(entry) }),
      meter,
      reader: new ImageResponseReader({
        bodies,
        keyId,
        echo,
        prepared: preparedImages,
        missingUsage,
      }),
    };
  }
}

/** A large body is released; a small one stays in memory. */
export function releaseUpload({ upload, memory }: Pick<ImageInput, 'upload' | 'memory'>): void {
  if (upload === undefined) return;
  upload.done();
  memory?.forgetBody();
}

function bodyFor(
  request: ImagesRequest<ImageBody>,
  upstreamModel: string,
): Exclude<UpstreamRequest['body'], null> {
  const { body } = request;
  if (Buffer.isBuffer(body)) return images.patchRequest({ ...request, body }, upstreamModel).body;
  const edit = images.modelEdit(request, upstreamModel);
  return body.edited(edit === null ? [] : [edit]);
}

export function imageVendor({ channel }: Route): Vendor {
  const vendor = vendorOf(channel);
  if (vendor === undefined) throw new GatewayError('internal_error');
  return vendor;
}

/**
 * Images take longer than text, the second one as long as the first: within the response, too, silence may last as
 * long as before it. A lost request must not be repeated.
 */
export function forImages(request: UpstreamRequest): UpstreamRequest {
  const { timeouts } = request;
  const firstByte = timeouts.imageFirstByte;
  return {
    ...request,
    timeouts: { ...timeouts, firstByte, streamIdle: Math.max(timeouts.streamIdle, firstByte) },
    ownConnection: true,
  };
}

/** Memory of a conversion, for each byte of a body: the body, its images in Base64 (4/3), and what is sent (4/3). */
const perByte = 4;

interface Results {
  readonly decodeImages: ImageRequest;
  readonly editAsGeneration: ImagesRequest;
}

/**
 * Calls a function with the whole request: `decodeImages` for its neutral form, `editAsGeneration` for upstreams that take
 * no edits. Large JSON is read in a thread; of a form only the fields are read.
 * @throws GatewayError `overloaded` if there is no room, and what the function throws; SpoolFailure
 */
export async function callWithImages<Name extends keyof Results>(
  { bodies }: { readonly bodies: BodyPool },
  { caller, memory }: Pick<ImageInput, 'caller' | 'memory'>,
  name: Name,
  request: ImagesRequest<ImageBody>,
): Promise<Results[Name]> {
  const { body } = request;
  const isStored = !Buffer.isBuffer(body);
  if (isStored && memory?.tryMore(perByte * body.length) === false) throw memory.refuse();
  const wholeRequest = { ...request, body: isStored ? await body.whole() : body };
  if (request.encoding === 'multipart' || !isReadInThread(wholeRequest.body, bodies.weights)) {
    return (functions[name] as (request: ImagesRequest) => Results[Name])(wholeRequest);
  }
  // The body is handed over, and may be sent to other channels.
  if (!isStored) wholeRequest.body = Buffer.from(wholeRequest.body);
  return bodies.run(caller.keyId, name, wholeRequest).result as Promise<Results[Name]>;
}
