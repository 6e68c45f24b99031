import { isReferenceModel, type ImageProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import {
  type ConvertedImageRequest,
  convertImageRequest,
  type FetchMedia,
} from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { drawnImages, fetchingMedia, sourceImages } from '../../attempts/fetch-media.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../../attempts/upstream-request.ts';
import { WholeResponse } from '../../attempts/whole-response.ts';
import type { ExchangeInput } from '../../exchange.ts';
import { sentTo } from '../../ending/record.ts';
import type { MeasuredImages } from '../image-response-reader.ts';
import { createStreamMeter } from '../measure-images.ts';
import { forImages, imageVendor } from '../native-requests.ts';
import type { EventReading, ImageRequests, FormedRequest } from '../image-plan.ts';
import { type ConvertedImageParts, takesSources, unable } from '../prepared.ts';
import { ConvertedImageReader, ResponseLoss } from './image-response-reader.ts';
import type { ConvertibleImages, ImageSide, StreamedImages } from './surface.ts';

/** How images are sent to upstreams of other protocols than the client's, or of its own text protocol. */
export interface ConvertedImageTarget {
  readonly side: ImageSide;
  /** How clients get them in a stream; absent: they do not. */
  readonly streamed?: StreamedImages | undefined;
}

/** A request for images as each upstream takes it: converted, or in the client's own protocol. */
export class ConvertedRequests implements ImageRequests<MeasuredImages> {
  readonly #parts: ConvertedImageParts;
  readonly #target: ConvertedImageTarget;
  readonly #input: ExchangeInput;
  readonly #preparedImages: ConvertibleImages;
  readonly #convertedRequests = new Map<Route, ConvertedImageRequest>();

  constructor(
    parts: ConvertedImageParts,
    target: ConvertedImageTarget,
    input: ExchangeInput,
    preparedImages: ConvertibleImages,
  ) {
    this.#parts = parts;
    this.#target = target;
    this.#input = input;
    this.#preparedImages = preparedImages;
  }

  unable(route: Route): Promise<GatewayError | null> | null {
    const upstream = this.#upstreamOf(route);
    const { openedImages } = this.#preparedImages;
    return openedImages.own?.protocol === upstream ? null : this.#convert(route, upstream);
  }

  take(route: Route): FormedRequest<MeasuredImages> {
    const upstream = this.#upstreamOf(route);
    const convertedRequest = this.#convertedRequests.get(route);
    const isOwn = convertedRequest === undefined;
    this.#convertedRequests.delete(route);
    const request = convertedRequest ?? this.#ownRequest(route);
    const losses = new ResponseLoss();
    const isStream = isOwn && this.#target.streamed !== undefined;
    return {
      sentRequest: {
        ...sentTo(route),
        losses: request.losses,
        responseLosses: isOwn ? null : losses,
      },
      // Only upstreams of the client's own protocol stream images; the others respond with all of them at once.
      request: (secret) => this.#request(route, upstream, request, secret, isStream),
      whole: () => new WholeResponse(this.#readerOf(route, upstream, isOwn, losses)),
      events: () => this.#events(route, upstream, isOwn, losses),
    };
  }

  /** The result lives as long as the response, so it holds nothing of the request. */
  #readerOf(
    { upstreamModel }: Route,
    upstream: ImageProtocolName,
    isOwn: boolean,
    losses: ResponseLoss,
  ): ConvertedImageReader {
    const { bodies, missingUsage } = this.#parts;
    const preparedImages = this.#preparedImages;
    return new ConvertedImageReader({
      bodies,
      keyId: this.#input.caller.keyId,
      upstream,
      isOwn,
      echo: { clientModel: preparedImages.openedImages.model, upstreamModel },
      prepared: preparedImages,
      missingUsage,
      fetching: (work) => fetchingMedia(this.#parts, this.#input, drawnImages, work),
      losses,
    });
  }

  #events(
    route: Route,
    upstream: ImageProtocolName,
    isOwn: boolean,
    losses: ResponseLoss,
  ): EventReading {
    const { streamed } = this.#target;
    if (streamed === undefined) throw new GatewayError('internal_error');
    const preparedImages = this.#preparedImages;
    const { upstreamModel } = route;
    const meter = createStreamMeter(preparedImages, this.#parts.missingUsage, isOwn);
    const echo = { clientModel: preparedImages.openedImages.model, upstreamModel };
    return {
      events: streamed,
      // What was converted has been measured as a whole.
      tap: streamed.createTap(echo, isOwn ? meter.accepts : () => true),
      meter,
      reader: this.#readerOf(route, upstream, isOwn, losses),
    };
  }

  done(): void {
    this.#preparedImages.openedImages.done();
  }

  #request(
    route: Route,
    protocol: ImageProtocolName,
    { form, body, contentType }: ConvertedImageRequest,
    secret: string | null,
    stream: boolean,
  ): UpstreamRequest {
    const { headers } = this.#input;
    const { timeouts } = this.#parts;
    const upstreamRequest = buildUpstreamRequest({
      operation: 'generate',
      isEdit: form === 'edit',
      route,
      vendor: imageVendor(route),
      secret,
      protocol,
      body,
      contentType,
      clientHeaders: headers,
      forwarded: forwardedHeaders(headers, allowedAnywhere),
      stream,
      timeouts,
    });
    return forImages(upstreamRequest);
  }

  async #convert(route: Route, upstream: ImageProtocolName): Promise<GatewayError | null> {
    const { openedImages, model } = this.#preparedImages;
    const vendor = imageVendor(route);
    const capabilities = new Set(model.capabilities);
    // References serve where there is no endpoint for edits.
    if (upstream === 'images' && vendor.lacksEdits === true) capabilities.delete('edits');
    if (openedImages.refusal !== null) return openedImages.refusal;
    try {
      const request = await openedImages.read();
      if (request.sources.length > 0 && !takesSources(model)) return unable(openedImages.model);
      const convert = (fetchImage: FetchMedia) =>
        convertImageRequest(request, {
          client: this.#target.side.protocol,
          upstream,
          model: route.upstreamModel,
          capabilities,
          asksForBytes: vendor.imagesByAddress === true || isReferenceModel(capabilities),
          boundary: `sluice-${this.#input.id}`,
          strict: this.#input.caller.conversion === 'strict',
          fetchImage,
        });
      const convertedRequest = await fetchingMedia(this.#parts, this.#input, sourceImages, convert);
      this.#convertedRequests.set(route, convertedRequest);
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  #ownRequest(route: Route): ConvertedImageRequest {
    const { own } = this.#preparedImages.openedImages;
    if (own === null) throw new GatewayError('internal_error');
    return {
      form: 'generation',
      body: own.bodyFor(route.upstreamModel),
      contentType: 'application/json',
      losses: [],
    };
  }

  #upstreamOf({ channel }: Route): ImageProtocolName {
    const protocolName = this.#target.side.upstreams.find((name) =>
      channel.protocols.includes(name),
    );
    if (protocolName === undefined) throw new GatewayError('internal_error');
    return protocolName;
  }
}
