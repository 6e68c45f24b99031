import type { PictureProtocolName } from '#canonical/index.ts';
import { isReferenceModel } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import {
  convertPictureRequest,
  type ConvertedPictureRequest,
  type FetchMedia,
} from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { drawnPictures, fetchingMedia, sourcePictures } from '../../attempts/fetch-media.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../../attempts/upstream-request.ts';
import type { ExchangeInput } from '../../exchange/input.ts';
import { sentTo, type SentRequest } from '../../exchange/tried.ts';
import { forPictures, imageVendor } from '../image-request.ts';
import type { PictureParts } from './parts.ts';
import { PictureResponseReader, ResponseLoss } from './picture-response-reader.ts';
import type { ConvertiblePictures } from './prepared.ts';
import { takesSources, unable } from './sources.ts';
import type { PictureSide } from './surface.ts';

/** A request in the protocol of one upstream. */
export interface RouteRequest extends ConvertedPictureRequest {
  readonly upstream: PictureProtocolName;
  /** The client speaks the upstream's protocol. */
  readonly isOwn: boolean;
  /** What is recorded of the request. */
  readonly sent: SentRequest;
  /** What the response loses. */
  readonly responseLosses: ResponseLoss;
}

/** A request for pictures as each upstream takes it: converted, or in the client's own protocol. */
export class PictureRequests {
  readonly #parts: PictureParts;
  readonly #side: PictureSide;
  readonly #input: ExchangeInput;
  readonly #prepared: ConvertiblePictures;
  readonly #converted = new Map<Route, ConvertedPictureRequest>();

  constructor(
    parts: PictureParts,
    side: PictureSide,
    input: ExchangeInput,
    prepared: ConvertiblePictures,
  ) {
    this.#parts = parts;
    this.#side = side;
    this.#input = input;
    this.#prepared = prepared;
  }

  /** Converts the request if the route needs it. Resolves to the reason why the route cannot be asked. */
  prepare(route: Route): Promise<GatewayError | null> | null {
    const upstream = this.#upstreamOf(route);
    const { opened } = this.#prepared;
    return opened.own?.protocol === upstream ? null : this.#convert(route, upstream);
  }

  /** Called once for each attempt. */
  take(route: Route): RouteRequest {
    const upstream = this.#upstreamOf(route);
    const converted = this.#converted.get(route);
    const isOwn = converted === undefined;
    this.#converted.delete(route);
    const request = converted ?? this.#ownRequest(route);
    const responseLosses = new ResponseLoss();
    const { losses } = request;
    const sent = { ...sentTo(route), losses, responseLosses: isOwn ? null : responseLosses };
    return { ...request, upstream, isOwn, sent, responseLosses };
  }

  /** @param stream whether the upstream is asked for a stream */
  asked(
    route: Route,
    { upstream: protocol, form, body, contentType }: RouteRequest,
    secret: string | null,
    stream: boolean,
  ): UpstreamRequest {
    const { headers } = this.#input;
    const { timeouts } = this.#parts;
    const asked = buildUpstreamRequest({
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
    return forPictures(asked);
  }

  /** Reads the whole response to one request. */
  readerFor(
    route: Route,
    { upstream, isOwn, responseLosses: losses }: RouteRequest,
  ): PictureResponseReader {
    const { bodies, missingUsage } = this.#parts;
    const prepared = this.#prepared;
    const echo = { clientModel: prepared.opened.model, upstreamModel: route.upstreamModel };
    return new PictureResponseReader({
      bodies,
      keyId: this.#input.caller.keyId,
      upstream,
      isOwn,
      echo,
      prepared,
      missingUsage,
      fetching: (work) => fetchingMedia(this.#parts, this.#input, drawnPictures, work),
      losses,
    });
  }

  async #convert(route: Route, upstream: PictureProtocolName): Promise<GatewayError | null> {
    const { opened, model } = this.#prepared;
    const vendor = imageVendor(route);
    const capabilities = new Set(model.capabilities);
    // References serve where there is no endpoint for edits.
    if (upstream === 'images' && vendor.lacksEdits === true) capabilities.delete('edits');
    if (opened.refusal !== null) return opened.refusal;
    try {
      const request = await opened.read();
      if (request.sources.length > 0 && !takesSources(model)) return unable(opened.model);
      const convert = (fetchPicture: FetchMedia) =>
        convertPictureRequest(request, {
          client: this.#side.protocol,
          upstream,
          model: route.upstreamModel,
          capabilities,
          asksForBytes: vendor.picturesByAddress === true || isReferenceModel(capabilities),
          boundary: `sluice-${this.#input.id}`,
          strict: this.#input.caller.conversion === 'strict',
          fetchPicture,
        });
      const converted = await fetchingMedia(this.#parts, this.#input, sourcePictures, convert);
      this.#converted.set(route, converted);
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  #ownRequest(route: Route): ConvertedPictureRequest {
    const { own } = this.#prepared.opened;
    if (own === null) throw new GatewayError('internal_error');
    return {
      form: 'generation',
      body: own.bodyFor(route.upstreamModel),
      contentType: 'application/json',
      losses: [],
    };
  }

  #upstreamOf({ channel }: Route): PictureProtocolName {
    const found = this.#side.upstreams.find((name) => channel.protocols.includes(name));
    if (found === undefined) throw new GatewayError('internal_error');
    return found;
  }
}
