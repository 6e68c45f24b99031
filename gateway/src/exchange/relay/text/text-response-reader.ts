import {
  type BodyPool,
  largestAnswer,
  readWholeResponse,
  streamOf,
  type WireProtocol,
} from '#body-work/index.ts';
import type { ConvertedRequest } from '#conversion/index.ts';
import type { Protocol, ResponseEcho, WireResponse } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { readingInThread } from '../attempts/in-thread.ts';
import type { ReadingResponse, ResponseReader } from '../attempts/response-reader.ts';
import { createTakeGiven, type TakeGiven } from './given-names.ts';
import type { TextInput, TextParts } from './input.ts';
import type { PreparedText } from './prepared.ts';
import type { TextRequest } from './route-request.ts';
import { echoOf } from './text-sender.ts';

/** A complete response in the form that the client gets. */
export interface TextResponse extends WireResponse {
  /** An estimate that was made where the response was read; absent: there is none. */
  readonly outputTokens?: number | null;
}

export interface TextResponseSource {
  readonly bodies: BodyPool;
  /** Keys take turns at the threads. */
  readonly keyId: string;
  readonly protocol: Pick<Protocol, 'readResponse'>;
  /** The upstream's protocol. */
  readonly wire: WireProtocol;
  readonly echo: ResponseEcho;
  /** Null when the client speaks the upstream's protocol. */
  readonly converted: Pick<ConvertedRequest, 'terms' | 'learn'> | null;
  /** Null if the ids in the response are not the upstream's. */
  readonly takeGiven: TakeGiven | null;
}

/** Reads complete responses; large ones in threads. */
export class TextResponseReader implements ResponseReader<TextResponse> {
  readonly largest = largestAnswer;
  readonly #source: TextResponseSource;

  constructor(source: TextResponseSource) {
    this.#source = source;
  }

  read(body: Buffer): TextResponse | ReadingResponse<TextResponse> {
    const { bodies, keyId, wire, protocol, echo, converted } = this.#source;
    if (body.length < bodies.weights.response) {
      return readWholeResponse(body, wire, protocol, echo);
    }
    const args = { body, upstream: wire.name, echo, terms: converted?.terms ?? null };
    return readingInThread(bodies.run(keyId, 'readText', args)).with((response) => {
      converted?.learn(response);
      return response;
    });
  }

  /**
   * A response as the events that were asked for. They are converted later, one by one, when they are written.
   * @param body is handed over if it is large
   * @throws UnreadableResponse
   */
  stream(body: Buffer): Buffer | ReadingResponse<Buffer> {
    const { bodies, keyId, wire, echo } = this.#source;
    const model = echo.upstreamModel;
    if (body.length < bodies.weights.response) return streamOf(body, wire, model);
    const args = { body, upstream: wire.name, model };
    return readingInThread(bodies.run(keyId, 'streamText', args));
  }

  /** Records the ids in the response before the client sees them. */
  accept({ given }: TextResponse): void {
    if (given !== undefined) this.#source.takeGiven?.(given);
  }
}

/**
 * What reads the response to one request.
 * @param request is not kept.
 */
export function readingOf(
  parts: TextParts,
  input: TextInput,
  prepared: PreparedText,
  { route, converted, patched, sent, place }: TextRequest,
  { secret }: ChannelLease,
) {
  const { bodies, protocols } = parts;
  const spoken = converted?.protocol ?? input.protocol;
  const echo = echoOf(prepared.request.model, route, patched);
  const { keyId } = input.caller;
  const wire = protocols[spoken];
  const protocol: Pick<Protocol, 'readResponse' | 'createStreamTap'> =
    converted?.reader ?? (place === null ? wire : parts.converter.rememberReasoning(wire, place));
  // The ids in a converted response are the gateway's; no upstream knows them.
  const takeGiven =
    converted === null ? createTakeGiven(parts, input, prepared, route, secret, sent) : null;
  const source = { bodies, keyId, protocol, wire, echo, converted, takeGiven };
  return {
    protocol,
    wire,
    echo,
    reader: new TextResponseReader(source),
    takeGiven,
    onDefect: (error: unknown) => parts.onUnexpectedError(error, input.id),
  };
}
