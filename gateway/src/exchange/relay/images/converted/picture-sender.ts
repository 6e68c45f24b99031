import type { Route } from '#catalogue/index.ts';
import {
  convertPictureRequest,
  type ConvertedPictureRequest,
  type PictureUpstream,
} from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import type { Vendor } from '#vendors/index.ts';
import { BufferedAttempt, type BufferedOutcome } from '../../attempts/buffered-attempt.ts';
import { totalDeadline } from '../../attempts/deadlines.ts';
import { errorOfFailure } from '../../attempts/error-of-failure.ts';
import type { AttemptFailure } from '../../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../../attempts/sender.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../../attempts/upstream-request.ts';
import type { ExchangeInput } from '../../exchange/input.ts';
import { sentTo, type SentRequest } from '../../exchange/tried.ts';
import { forPictures, imageVendor } from '../image-request.ts';
import type { MeasuredImages } from '../image-response-reader.ts';
import type { PictureParts } from './parts.ts';
import { takesSources, unable } from './sources.ts';
import { PictureResponseReader, ResponseLoss } from './picture-response-reader.ts';
import type { ConvertiblePictures } from './prepared.ts';
import type { PictureSide } from './surface.ts';

export type PictureOutcome = BufferedOutcome<MeasuredImages>;

/** A request in the protocol of one upstream. */
interface RouteRequest extends ConvertedPictureRequest {
  readonly upstream: PictureUpstream;
  readonly isOwn: boolean;
}

/** Sends a request for pictures: converted, or in the client's own protocol. The upstream never streams it. */
export class PictureSender implements Sender<SentRequest, PictureOutcome> {
  readonly kind = 'buffered';
  readonly isCostly = true;
  readonly model: string;
  readonly #parts: PictureParts;
  readonly #side: PictureSide;
  readonly #input: ExchangeInput;
  readonly #prepared: ConvertiblePictures;
  readonly #converted = new Map<Route, RouteRequest>();

  constructor(
    parts: PictureParts,
    side: PictureSide,
    input: ExchangeInput,
    prepared: ConvertiblePictures,
  ) {
    this.model = prepared.opened.model;
    this.#parts = parts;
    this.#side = side;
    this.#input = input;
    this.#prepared = prepared;
  }

  prepare(route: Route): Promise<GatewayError | null> | null {
    const upstream = this.#upstreamOf(route);
    const { opened } = this.#prepared;
    return opened.own?.protocol === upstream ? null : this.#convert(route, upstream);
  }

  async #convert(route: Route, upstream: PictureUpstream): Promise<GatewayError | null> {
    const { opened, model } = this.#prepared;
    const vendor = imageVendor(route);
    const capabilities = new Set(model.capabilities);
    // References serve where there is no endpoint for edits.
    if (upstream === 'images' && vendor.lacksEdits === true) capabilities.delete('edits');
    if (opened.refusal !== null) return opened.refusal;
    try {
      const request = opened.read();
      if (request.sources.length > 0 && !takesSources(model)) return unable(opened.model);
      const converted = await convertPictureRequest(request, {
        client: this.#side.protocol,
        upstream,
        model: route.upstreamModel,
        capabilities,
        asksForBytes: givesAddresses(vendor, capabilities),
        boundary: `sluice-${this.#input.id}`,
        strict: this.#input.caller.conversion === 'strict',
        fetchPicture: this.#parts.fetchPicture,
      });
      this.#converted.set(route, { ...converted, upstream, isOwn: false });
      return null;
    } catch (error) {
      if (error instanceof GatewayError) return error;
      throw error;
    }
  }

  build(route: Route): ReadyRequest<SentRequest, PictureOutcome> {
    const request = this.#converted.get(route) ?? this.#ownRequest(route);
    this.#converted.delete(route);
    const responseLosses = new ResponseLoss();
    return {
      sent: {
        ...sentTo(route),
        losses: request.losses,
        responseLosses: request.isOwn ? null : responseLosses,
      },
      send: (lease) => this.#send(route, request, lease, responseLosses),
    };
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, null);
  }

  #ownRequest(route: Route): RouteRequest {
    const { own } = this.#prepared.opened;
    if (own === null) throw new GatewayError('internal_error');
    return {
      upstream: own.protocol,
      isOwn: true,
      form: 'generation',
      body: own.bodyFor(route.upstreamModel),
      contentType: 'application/json',
      losses: [],
    };
  }

  #send(
    route: Route,
    { upstream: protocol, form, body, contentType, isOwn }: RouteRequest,
    { secret }: ChannelLease,
    losses: ResponseLoss,
  ): BufferedAttempt<MeasuredImages> {
    const input = this.#input;
    const prepared = this.#prepared;
    const { upstream, ticker, timeouts, missingUsage, fetchPicture, onUnexpectedError } =
      this.#parts;
    const vendor = imageVendor(route);
    const asked = buildUpstreamRequest({
      operation: 'generate',
      isEdit: form === 'edit',
      route,
      vendor,
      secret,
      protocol,
      body,
      contentType,
      clientHeaders: input.headers,
      forwarded: forwardedHeaders(input.headers, allowedAnywhere),
      stream: false,
      timeouts,
    });
    return new BufferedAttempt(forPictures(asked), {
      upstream,
      vendor,
      client: input.client,
      reader: new PictureResponseReader({
        upstream: protocol,
        isOwn,
        echo: { clientModel: prepared.opened.model, upstreamModel: route.upstreamModel },
        prepared,
        missingUsage,
        fetchPicture,
        losses,
      }),
      ticker,
      // Leaving must not make pictures free, nor a wait that the client has announced to be short.
      drains: null,
      clientDeadline: Number.POSITIVE_INFINITY,
      deadline: totalDeadline(input, route.channel, timeouts),
      memory: input.memory,
      reserved: prepared.reserved,
      onDefect: (error) => onUnexpectedError(error, input.id),
    });
  }

  #upstreamOf({ channel }: Route): PictureUpstream {
    const found = this.#side.upstreams.find((name) => channel.protocols.includes(name));
    if (found === undefined) throw new GatewayError('internal_error');
    return found;
  }
}

/** Models that draw from references and do not edit give addresses, whoever serves them. */
function givesAddresses(
  { picturesByAddress = false }: Vendor,
  capabilities: ReadonlySet<string>,
): boolean {
  if (picturesByAddress || capabilities.has('layers')) return true;
  return capabilities.has('multi_reference') && !capabilities.has('edits');
}
