import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { createClientResponse } from '#http/index.ts';
import type { ExchangeInput, Relay } from '#relay/index.ts';
import { callerOf } from './caller-of.ts';

/** What an endpoint knows about a request beside its body. */
export interface TextCall {
  readonly protocol: TextProtocolName;
  readonly operation: ExchangeInput['operation'];
  readonly pathModel: string | null;
  readonly pathStream: boolean | null;
  readonly framing: ExchangeInput['framing'];
}

/** Runs one text request through the relay; whatever comes of it has been answered or logged in the end. */
export type TextExchange = (request: FastifyRequest, reply: FastifyReply, call: TextCall) => void;

/** For protocols whose path says nothing about the request. */
export function textCall(
  protocol: TextProtocolName,
  operation: ExchangeInput['operation'],
): TextCall {
  return Object.freeze({
    protocol,
    operation,
    pathModel: null,
    pathStream: null,
    framing: 'event-stream',
  });
}

/** From the request that Fastify has to the exchange that the relay runs. */
export function createTextExchange(
  relay: Relay,
  onUnexpectedError: (error: unknown, requestId: string) => void,
): TextExchange {
  return function runText(request, reply, call) {
    const { body, bodyClaim } = request;
    // A POST without any body never reaches the body parser.
    if (!Buffer.isBuffer(body)) throw new GatewayError('invalid_body');
    // The relay forgets it once it is of no more use; Fastify would keep it until the answer has ended.
    request.body = undefined;
    const client = createClientResponse(request, reply);
    const input: ExchangeInput = {
      id: request.id,
      arrivedAt: request.arrivedAt,
      startedAt: request.startedAt,
      caller: callerOf(request),
      undecided: request.undecided,
      protocol: call.protocol,
      operation: call.operation,
      body,
      pathModel: call.pathModel,
      pathStream: call.pathStream,
      framing: call.framing,
      headers: request.raw.headers,
      client,
      ...(bodyClaim !== null && { memory: bodyClaim }),
    };
    const { place } = request;
    // A client that leaves does not end an exchange that is drained: it is under way until the relay says so.
    place?.hold();
    const ended = (): void => place?.release();
    const failed = (error: unknown): void => {
      ended();
      if (!client.headSent) {
        request.server.respondWithError(error, request, reply);
        return;
      }
      // The relay ends what it began. If it could not, a cut connection is the only honest end left.
      onUnexpectedError(error, request.id);
      if (!reply.raw.writableEnded) reply.raw.destroy();
    };
    relay.run(input).then(ended, failed);
  };
}
