import { GatewayError } from '#errors/index.ts';
import { embeddings, type EmbeddingsResponse } from '#protocols/index.ts';
import { findCandidates } from '#routing/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { answer, type Plan } from '../answer.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import { WholeResponse } from '../attempts/whole-response.ts';
import { writeJson } from '../exchange/client-response.ts';
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
    answer: (exchange, prepared) =>
      answer(parts, exchange, planOf(parts, exchange.input, prepared)),
  };
}

const allowed: readonly string[] = [...allowedAnywhere, 'openai-beta'];

/** The client's bytes go unchanged, except for the model's name at the channel. */
function planOf(
  parts: EmbedParts,
  input: EmbedInput,
  prepared: PreparedEmbed,
): Plan<SentRequest, EmbeddingsResponse, never> {
  const { bodies, timeouts, missingUsage } = parts;
  const { request, routes } = prepared;
  const { model } = request;
  return {
    routes,
    model,
    kind: 'buffered',
    request(route, { secret }) {
      const { channel, upstreamModel } = route;
      const vendor = vendorOf(channel);
      if (vendor === undefined) throw new GatewayError('internal_error');
      const upstream = buildUpstreamRequest({
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
      const echo = { clientModel: model, upstreamModel };
      const receiver = new WholeResponse(new EmbedResponseReader(bodies, input.caller.keyId, echo));
      return { sent: sentTo(route), upstream, receiver, onLeave: 'drain', memory: input.memory };
    },
    errorOf: (failure) => errorOfFailure(failure, request.members),
    sink: null,
    measure: (response) => measureEmbed(response, prepared, missingUsage),
    measureLeft: (left) => measureLeftEmbed(left, prepared),
    write: ({ body }, headers) => writeJson(input.client, body, headers),
  };
}
