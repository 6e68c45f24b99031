import type { FastifyReply, FastifyRequest } from 'fastify';
import type { TextProtocolName, VideoProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { UploadedBody } from '#bodies/index.ts';
import { NodeClientResponse } from '#http/index.ts';
import type {
  EmbedInput,
  ImageInput,
  Relay,
  RelayInput,
  TextInput,
  VideoInput,
} from '#relay/index.ts';
import { callerOf } from './authentication.ts';

/** What a text endpoint knows about a request apart from its body. */
export interface TextCall {
  readonly protocol: TextProtocolName;
  readonly operation: TextInput['operation'];
  readonly pathModel: string | null;
  readonly pathStream: boolean | null;
  readonly framing: TextInput['framing'];
}

export type EmbedCall = Pick<EmbedInput, 'protocol' | 'operation' | 'pathModel' | 'pathStream'>;

export type ImageCall = Pick<
  ImageInput,
  'protocol' | 'operation' | 'form' | 'pathModel' | 'pathStream'
>;

export type VideoCall = Pick<VideoInput, 'protocol' | 'operation' | 'pathModel' | 'pathStream'>;

/** Runs one request through the relay; every outcome has been answered or logged when it resolves. */
export type RunExchange = (
  request: FastifyRequest,
  reply: FastifyReply,
  call: TextCall | EmbedCall | ImageCall | VideoCall,
) => void;

const noBody = Buffer.alloc(0);

/** For protocols whose path says nothing about the request. */
export function textCall(protocol: TextProtocolName, operation: TextInput['operation']): TextCall {
  return Object.freeze({
    protocol,
    operation,
    pathModel: null,
    pathStream: null,
    framing: 'event-stream',
  });
}

export function videoCall(protocol: VideoProtocolName): VideoCall {
  return Object.freeze({ protocol, operation: 'generate', pathModel: null, pathStream: null });
}

/** Turns a Fastify request into an exchange for the relay. */
export function createExchangeRunner(
  relay: Relay,
  onUnexpectedError: (error: unknown, requestId: string) => void,
): RunExchange {
  return function runExchange(request, reply, call) {
    const { body: receivedBody, bodyClaim } = request;
    const upload = receivedBody instanceof UploadedBody ? receivedBody : null;
    const body = upload === null ? receivedBody : noBody;
    // A POST without any body never reaches the body parser.
    if (!Buffer.isBuffer(body)) throw new GatewayError('invalid_body');
    // The relay releases it as soon as possible; Fastify would keep it until the response has ended.
    request.body = undefined;
    const client = new NodeClientResponse(request, reply);
    const input: RelayInput = {
      id: request.id,
      arrivedAt: request.arrivedAt,
      startedAt: request.startedAt,
      caller: callerOf(request),
      pendingRateCheck: request.pendingRateCheck,
      ...call,
      body,
      headers: request.raw.headers,
      client,
      ...(bodyClaim !== null && { memory: bodyClaim }),
      ...(upload !== null && { upload }),
    };
    const { slot } = request;
    // A disconnect does not end a drained exchange: it is in flight until the relay finishes it.
    slot?.hold();
    const onFailure = (error: unknown): void => {
      slot?.release();
      // It has its error already.
      if (client.failedWith !== null) return;
      if (!client.headSent) {
        request.server.respondWithError(error, request, reply);
        return;
      }
      // The relay ends what it began. If it could not, closing the connection is the only honest end.
      onUnexpectedError(error, request.id);
      if (!reply.raw.writableEnded) reply.raw.destroy();
    };
    relay.run(input).then(() => slot?.release(), onFailure);
  };
}
