import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { embeddings, type EmbeddingsResponse } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { Attempt } from '../attempts/attempt.ts';
import { attemptOptions } from '../attempts/attempt-options.ts';
import { errorOfFailure } from '../attempts/error-of-failure.ts';
import type { AttemptFailure, OutcomeOf } from '../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../attempts/sender.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import { WholeResponse } from '../attempts/whole-response.ts';
import { sentTo, type SentRequest } from '../exchange/tried.ts';
import { EmbedResponseReader } from './embed-response-reader.ts';
import type { EmbedInput } from './input.ts';
import type { EmbedParts } from './parts.ts';
import type { PreparedEmbed } from './prepared.ts';

export type EmbedOutcome = OutcomeOf<EmbeddingsResponse, never>;

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

  #send(route: Route, { secret }: ChannelLease): Attempt<EmbeddingsResponse, never> {
    const input = this.#input;
    const { bodies, timeouts } = this.#parts;
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
    const echo = { clientModel: request.model, upstreamModel };
    const reader = new EmbedResponseReader(bodies, input.caller.keyId, echo);
    return new Attempt(asked, new WholeResponse(reader), {
      ...attemptOptions(this.#parts, input, route.channel, 'drain'),
      memory: input.memory,
    });
  }
}
