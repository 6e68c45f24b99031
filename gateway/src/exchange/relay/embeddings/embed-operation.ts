import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { embeddings, type EmbeddingsResponse } from '#protocols/index.ts';
import { type ChannelLease, findCandidates } from '#routing/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { answer } from '../answer.ts';
import { attemptOptions } from '../attempts/attempt-options.ts';
import { Attempt } from '../attempts/attempt.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import type { AttemptFailure, OutcomeOf } from '../attempts/outcome.ts';
import type { ReadyRequest, Sender } from '../attempts/sender.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import { WholeResponse } from '../attempts/whole-response.ts';
import { writeJson } from '../exchange/client-response.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { routeQueryOf } from '../exchange/find-model.ts';
import type { Operation } from '../exchange/operation.ts';
import { type SentRequest, sentTo } from '../exchange/record.ts';
import { EmbedResponseReader } from './embed-response-reader.ts';
import { boundEmbed, measureEmbed, measureLeftEmbed } from './measure-embed.ts';
import { openEmbed } from './open-embed.ts';
import type { CheckedEmbed, EmbedInput, EmbedParts, PreparedEmbed } from './prepared.ts';

/** Turns texts into vectors. Only one protocol has embeddings, so nothing is converted, and nothing is streamed. */
export function createEmbedOperation(
  parts: EmbedParts,
): Operation<EmbedInput, CheckedEmbed, PreparedEmbed> {
  return {
    modelType: 'embedding',
    isFree: false,
    mayStream: false,
    open: (input) => openEmbed(parts, input),
    bound: (_exchange, { request, resolved }, rates) => boundEmbed(request, resolved.model, rates),
    prepare({ input }, { request, resolved }) {
      const query = routeQueryOf(input, resolved);
      const routes = findCandidates(resolved.snapshot, query, parts.random);
      return { request, model: resolved.model, routes };
    },
    answer: (exchange, prepared) => answerEmbed(parts, exchange, prepared),
  };
}

/** @throws GatewayError when nothing has been written to the client yet. */
export function answerEmbed(
  parts: EmbedParts,
  exchange: Exchange<EmbedInput>,
  prepared: PreparedEmbed,
): Promise<void> {
  const { input } = exchange;
  return answer(parts, exchange, {
    routes: prepared.routes,
    sender: new EmbedSender(parts, input, prepared),
    sink: null,
    measure: (response) => measureEmbed(response, prepared, parts.missingUsage),
    measureLeft: (left) => measureLeftEmbed(left, prepared),
    write: ({ body }, headers) => writeJson(input.client, body, headers),
  });
}

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
