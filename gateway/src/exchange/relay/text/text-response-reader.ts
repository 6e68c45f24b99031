import { largestAnswer, readWholeResponse, type WireProtocol } from '#body-work/index.ts';
import type { ResponseEcho, Protocol, WireResponse } from '#protocols/index.ts';
import type { ResponseReader, ReadingResponse } from '../attempts/response-reader.ts';
import { readInThreadFrom, type LargeResponses } from './large-response.ts';
import type { TakeGiven } from './state/given-names.ts';

/** A whole response, as the client is to get it. */
export interface TextResponse extends WireResponse {
  /** An estimate, made with the response where it was read; absent: nobody has made one. */
  readonly outputTokens?: number | null;
}

export interface TextResponseSource {
  readonly protocol: Pick<Protocol, 'readResponse'>;
  /** What the upstream speaks. */
  readonly wire: WireProtocol;
  readonly echo: ResponseEcho;
  readonly large: Pick<LargeResponses, 'whole'>;
  /** Null where the response's ids are not the upstream's. */
  readonly takeGiven: TakeGiven | null;
}

/** Reads whole responses: the large ones in threads. */
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

  /** Before the client sees the response, what it names must be known. */
  accept({ given }: TextResponse): void {
    if (given !== undefined) this.#source.takeGiven?.(given);
  }
}
