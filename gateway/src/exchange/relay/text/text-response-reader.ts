import { largestAnswer, readWholeResponse, type WireProtocol } from '#body-work/index.ts';
import type { Protocol, ResponseEcho, WireResponse } from '#protocols/index.ts';
import type { ChannelLease } from '#routing/index.ts';
import { readInThreadFrom } from '../attempts/in-thread.ts';
import type { ReadingResponse, ResponseReader } from '../attempts/response-reader.ts';
import { createTakeGiven, type TakeGiven } from './given-names.ts';
import type { TextInput, TextParts } from './input.ts';
import { LargeResponses } from './large-response.ts';
import type { PreparedText } from './prepared.ts';
import type { TextRequest } from './route-request.ts';
import { echoOf } from './text-sender.ts';

/** A complete response in the form that the client gets. */
export interface TextResponse extends WireResponse {
  /** An estimate that was made where the response was read; absent: there is none. */
  readonly outputTokens?: number | null;
}

export interface TextResponseSource {
  readonly protocol: Pick<Protocol, 'readResponse'>;
  /** The upstream's protocol. */
  readonly wire: WireProtocol;
  readonly echo: ResponseEcho;
  readonly large: Pick<LargeResponses, 'whole'>;
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

  read(body: Buffer): TextResponse {
    const { wire, protocol, echo } = this.#source;
    return readWholeResponse(body, wire, protocol, echo);
  }

  readInThread(body: Buffer): ReadingResponse<TextResponse> | null {
    return body.length < readInThreadFrom ? null : this.#source.large.whole(body);
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
  const native = protocols[spoken];
  const protocol: Pick<Protocol, 'readResponse' | 'createStreamTap'> =
    converted?.reader ??
    (place === null ? native : parts.converter.rememberReasoning(native, place));
  return {
    protocol,
    wire: protocols[spoken],
    echo,
    large: new LargeResponses({ bodies, keyId, upstream: spoken, echo, converted }),
    // The ids in a converted response are the gateway's; no upstream knows them.
    takeGiven:
      converted === null ? createTakeGiven(parts, input, prepared, route, secret, sent) : null,
    onDefect: (error: unknown) => parts.onUnexpectedError(error, input.id),
  };
}
