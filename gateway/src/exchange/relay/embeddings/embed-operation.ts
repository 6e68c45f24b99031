import type { BodyPool } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import { embeddings, type EmbeddingsResponse, type ModelEcho } from '#protocols/index.ts';
import { vendorOf } from '#vendors/index.ts';
import { answer, type ExchangePlan } from '../answer.ts';
import { errorOfFailure } from '../attempts/final-error.ts';
import { callOnResponse } from '../attempts/in-thread.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import type { ReadingResponse, ResponseReader } from '../attempts/response-reader.ts';
import { WholeResponse } from '../attempts/whole-response.ts';
import { boundEmbed, measureEmbed, measureLeftEmbed } from './measure-embed.ts';
import {
  type CheckedEmbed,
  type EmbedInput,
  type EmbedParts,
  openEmbed,
  type PreparedEmbed,
} from './open-embed.ts';
import { writeJson } from '../exchange.ts';
import { candidatesFor } from '../admission/find-model.ts';
import type { Operation } from '../operation.ts';
import { type SentRequest, sentTo } from '../ending/record.ts';

/** Turns texts into vectors. Only one protocol has embeddings, so nothing is converted, and nothing is streamed. */
export const embedOperation: Operation<EmbedInput, CheckedEmbed, PreparedEmbed, EmbedParts> = {
  modelType: 'embedding',
  isFree: false,
  mayStream: false,
  open: openEmbed,
  bound: (_exchange, { request, resolvedModel }, rates) =>
    boundEmbed(request, resolvedModel.model, rates),
  prepare: (parts, { input }, checkedEmbed) => ({
    request: checkedEmbed.request,
    model: checkedEmbed.resolvedModel.model,
    routes: candidatesFor(parts, input, checkedEmbed),
  }),
  answer: (parts, exchange, preparedEmbed) =>
    answer(parts, exchange, planOf(parts, exchange.input, preparedEmbed)),
};

const allowedHeaders: readonly string[] = [...allowedAnywhere, 'openai-beta'];

/** The client's bytes go unchanged, except for the model's name at the channel. */
function planOf(
  parts: EmbedParts,
  input: EmbedInput,
  preparedEmbed: PreparedEmbed,
): ExchangePlan<SentRequest, EmbeddingsResponse, never> {
  const { bodies, timeouts, missingUsage } = parts;
  const { request, routes } = preparedEmbed;
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
        forwarded: forwardedHeaders(input.headers, allowedHeaders),
        stream: false,
        timeouts,
      });
      const echo = { clientModel: model, upstreamModel };
      const receiver = new WholeResponse(new EmbedResponseReader(bodies, input.caller.keyId, echo));
      return {
        sentRequest: sentTo(route),
        upstream,
        receiver,
        onLeave: 'drain',
        memory: input.memory,
      };
    },
    errorOf: (failure) => errorOfFailure(failure, request.members),
    sink: null,
    measure: (response) => measureEmbed(response, preparedEmbed, missingUsage),
    measureLeft: (leftAttempt) => measureLeftEmbed(leftAttempt, preparedEmbed),
    write: ({ body }, headers) => writeJson(input.client, body, headers),
  };
}

/** In bytes: twice the size of 2,048 vectors of 3,072 numbers in base64. As digits, vectors take four times as much. */
const largestResponse = 64 * 1024 * 1024;

/** Reads complete responses; large ones in threads. */
export class EmbedResponseReader implements ResponseReader<EmbeddingsResponse> {
  readonly largest = largestResponse;
  readonly sizeIsRequested = true;
  readonly #bodies: BodyPool;
  readonly #keyId: string;
  readonly #echo: ModelEcho;

  /** @param keyId keys take turns at the threads */
  constructor(bodies: BodyPool, keyId: string, echo: ModelEcho) {
    this.#bodies = bodies;
    this.#keyId = keyId;
    this.#echo = echo;
  }

  read(body: Buffer): EmbeddingsResponse | ReadingResponse<EmbeddingsResponse> {
    return callOnResponse(this.#bodies, this.#keyId, 'readEmbeddings', { body, echo: this.#echo });
  }
}
