import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { images } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { BufferedAttempt, type BufferedOutcome } from '../attempts/buffered-attempt.ts';
import { totalDeadline } from '../attempts/deadlines.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import type { AttemptFailure } from '../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../attempts/sender.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import type { SentRequest } from '../exchange/tried.ts';
import { ImageResponseReader, type MeasuredImages } from './image-response-reader.ts';
import type { ImageInput } from './input.ts';
import type { ImageParts } from './parts.ts';
import type { PreparedImages } from './prepared.ts';

export type ImageOutcome = BufferedOutcome<MeasuredImages>;

const allowed: readonly string[] = [...allowedAnywhere, 'openai-beta'];

/** Sends the client's bytes unchanged, except for the model's name at the channel. */
export class ImageSender implements Sender<SentRequest, ImageOutcome> {
  readonly kind = 'buffered';
  readonly isCostly = true;
  readonly model: string;
  readonly #parts: ImageParts;
  readonly #input: ImageInput;
  readonly #prepared: PreparedImages;

  constructor(parts: ImageParts, input: ImageInput, prepared: PreparedImages) {
    this.model = prepared.request.model;
    this.#parts = parts;
    this.#input = input;
    this.#prepared = prepared;
  }

  prepare(): null {
    return null;
  }

  build(route: Route): ReadyRequest<SentRequest, ImageOutcome> {
    return {
      sent: sentTo(route),
      send: (lease) => this.#send(route, lease),
    };
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, this.#prepared.request.members);
  }

  #send(route: Route, { secret }: ChannelLease): BufferedAttempt<MeasuredImages> {
    const input = this.#input;
    const prepared = this.#prepared;
    const { bodies, upstream, ticker, timeouts, missingUsage, onUnexpectedError } = this.#parts;
    const vendor = vendorOf(route.channel);
    if (vendor === undefined) throw new GatewayError('internal_error');
    const { body, contentType } = images.patchRequest(prepared.request, route.upstreamModel);
    const asked = buildUpstreamRequest({
      operation: 'generate',
      isEdit: input.form === 'edit',
      route,
      vendor,
      secret,
      protocol: 'images',
      body,
      contentType,
      clientHeaders: input.headers,
      forwarded: forwardedHeaders(input.headers, allowed),
      stream: false,
      timeouts,
    });
    return new BufferedAttempt(forPictures(asked), {
      upstream,
      vendor,
      client: input.client,
      reader: new ImageResponseReader({
        bodies,
        keyId: input.caller.keyId,
        echo: { clientModel: prepared.request.model, upstreamModel: route.upstreamModel },
        prepared,
        missingUsage,
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
}

/** Pictures take longer to begin than text, and a lost request must not be repeated. */
function forPictures(request: UpstreamRequest): UpstreamRequest {
  const { timeouts } = request;
  return {
    ...request,
    timeouts: { ...timeouts, firstByte: timeouts.imageFirstByte },
    ownConnection: true,
  };
}

function sentTo({ channel, upstreamModel }: Route): SentRequest {
  return {
    channel: channel.name,
    upstreamModel,
    rewrites: [],
    losses: [],
    responseLosses: null,
    upstreamState: null,
    ttftMs: null,
  };
}
