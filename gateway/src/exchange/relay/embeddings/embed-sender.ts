import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { embeddings, type EmbeddingsResponse } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { BufferedAttempt, type BufferedOutcome } from '../attempts/buffered-attempt.ts';
import { clientDeadline, totalDeadline } from '../attempts/deadlines.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import type { AttemptFailure } from '../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../attempts/sender.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import { sentTo, type SentRequest } from '../exchange/tried.ts';
import { EmbedResponseReader } from './embed-response-reader.ts';
import type { EmbedInput } from './input.ts';
import type { EmbedParts } from './parts.ts';
import type { PreparedEmbed } from './prepared.ts';

export type EmbedOutcome = BufferedOutcome<EmbeddingsResponse>;

const allowed: readonly string[] = [...allowedAnywhere, 'openai-beta'];

/** Sends the client's bytes unchanged, except for the model's name at the channel. */
export class EmbedSender implements Sender<SentRequest, EmbedOutcome> {
  readonly kind = 'buffered';
  readonly model: string;
  readonly #parts: EmbedParts;
  readonly #input: EmbedInput;
  readonly #prepared: PreparedEmbed;

  constructor(parts: EmbedParts, input: EmbedInput, prepared: PreparedEmbed) {
    this.model = prepared.request.model;
    this.#parts = parts;
    this.#input = input;
    this.#prepared = prepared;
  }

  prepare(): null {
    return null;
  }

  build(route: Route): ReadyRequest<SentRequest, EmbedOutcome> {
    return {
      sent: sentTo(route),
      send: (lease) => this.#send(route, lease),
    };
  }

  errorOf(failure: AttemptFailure): GatewayError {
    return errorOfFailure(failure, this.#prepared.request.members);
  }

  #send(route: Route, { secret }: ChannelLease): BufferedAttempt<EmbeddingsResponse> {
    const input = this.#input;
    const { bodies, upstream, ticker, drains, timeouts, onUnexpectedError } = this.#parts;
    const { request } = this.#prepared;
    const { upstreamModel } = route;
    const vendor = vendorOf(route.channel);
    if (vendor === undefined) throw new GatewayError('internal_error');
    const asked = buildUpstreamRequest({
      operation: 'embed',
      route,
      vendor,
      secret,
      protocol: 'embeddings',
      body: embeddings.patchRequest(request, upstreamModel),
      clientHeaders: input.headers,
      forwarded: forwardedHeaders(input.headers, allowed),
      stream: false,
      timeouts,
    });
    return new BufferedAttempt(asked, {
      upstream,
      client: input.client,
      reader: new EmbedResponseReader(bodies, input.caller.keyId, {
        clientModel: request.model,
        upstreamModel,
      }),
      ticker,
      drains,
      memory: input.memory,
      deadline: totalDeadline(input, route.channel, timeouts),
      clientDeadline: clientDeadline(input),
      onDefect: (error) => onUnexpectedError(error, input.id),
    });
  }
}
