import { isReferenceModel, type PictureProtocolName } from '#canonical/index.ts';
import type { Route } from '#catalogue/index.ts';
import {
  type ConvertedPictureRequest,
  convertPictureRequest,
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
import { WholeResponse } from '../../attempts/whole-response.ts';
import type { ExchangeInput } from '../../exchange/exchange.ts';
import { sentTo } from '../../exchange/record.ts';
import type { MeasuredImages } from '../image-response-reader.ts';
import { createStreamMeter } from '../measure-images.ts';
import { forPictures, imageVendor } from '../native-requests.ts';
import type { EventReading, PictureRequests, FormedRequest } from '../picture-plan.ts';
import { type PictureParts, takesSources, unable } from '../prepared.ts';
import { PictureResponseReader, ResponseLoss } from './picture-response-reader.ts';
import type { ConvertiblePictures, PictureSide, StreamedPictures } from './surface.ts';

/** How pictures are sent to upstreams of other protocols than the client's, or of its own text protocol. */
export interface PictureTarget {
  readonly side: PictureSide;
  /** How clients get them in a stream; absent: they do not. */
  readonly streamed?: StreamedPictures | undefined;
}

/** A request for pictures as each upstream takes it: converted, or in the client's own protocol. */
export class ConvertedRequests implements PictureRequests<MeasuredImages> {
  readonly #parts: PictureParts;
  readonly #target: PictureTarget;
  readonly #input: ExchangeInput;
  readonly #prepared: ConvertiblePictures;
  readonly #converted = new Map<Route, ConvertedPictureRequest>();

  constructor(
    parts: PictureParts,
    target: PictureTarget,
    input: ExchangeInput,
    prepared: ConvertiblePictures,
  ) {
    this.#parts = parts;
    this.#target = target;
    this.#input = input;
    this.#prepared = prepared;
  }

  unable(route: Route): Promise<GatewayError | null> | null {
    const upstream = this.#upstreamOf(route);
    const { opened } = this.#prepared;
    return opened.own?.protocol === upstream ? null : this.#convert(route, upstream);
  }

  take(route: Route): FormedRequest<MeasuredImages> {
    const upstream = this.#upstreamOf(route);
    const converted = this.#converted.get(route);
    const isOwn = converted === undefined;
    this.#converted.delete(route);
    const request = converted ?? this.#ownRequest(route);
    const losses = new ResponseLoss();
    const isStream = isOwn && this.#target.streamed !== undefined;
    return {
      sent: {
        ...sentTo(route),
        losses: request.losses,
        responseLosses: isOwn ? null : losses,
      },
      // Only upstreams of the client's own protocol stream pictures; the others respond with all of them at once.
      request: (secret) => this.#request(route, upstream, request, secret, isStream),
      whole: () => new WholeResponse(this.#readerOf(route, upstream, isOwn, losses)),
      events: () => this.#events(route, upstream, isOwn, losses),
    };
  }

  /** The result lives as long as the response, so it holds nothing of the request. */
  #readerOf(
    { upstreamModel }: Route,
    upstream: PictureProtocolName,
    isOwn: boolean,
    losses: ResponseLoss,
  ): PictureResponseReader {
    const { bodies, missingUsage } = this.#parts;
    const prepared = this.#prepared;
    return new PictureResponseReader({
      bodies,
      keyId: this.#input.caller.keyId,
      upstream,
      isOwn,
      echo: { clientModel: prepared.opened.model, upstreamModel },
      prepared,
      missingUsage,
      fetching: (work) => fetchingMedia(this.#parts, this.#input, drawnPictures, work),
      losses,
    });
  }

  #events(
    route: Route,
    upstream: PictureProtocolName,
    isOwn: boolean,
    losses: ResponseLoss,
  ): EventReading {
    const { streamed } = this.#target;
    if (streamed === undefined) throw new GatewayError('internal_error');
    const prepared = this.#prepared;
    const { upstreamModel } = route;
    const meter = createStreamMeter(prepared, this.#parts.missingUsage, isOwn);
    const echo = { clientModel: prepared.opened.model, upstreamModel };
    return {
      events: streamed,
      // What was converted has been measured as a whole.
      tap: streamed.createTap(echo, isOwn ? meter.accepts : () => true),
      meter,
      reader: this.#readerOf(route, upstream, isOwn, losses),
    };
  }

  done(): void {
    this.#prepared.opened.done();
  }

  #request(
    route: Route,
    protocol: PictureProtocolName,
    { form, body, contentType }: ConvertedPictureRequest,
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
          client: this.#target.side.protocol,
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
    const found = this.#target.side.upstreams.find((name) => channel.protocols.includes(name));
    if (found === undefined) throw new GatewayError('internal_error');
    return found;
  }
}
