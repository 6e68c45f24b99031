import { largestAnswer, readWholeResponse, type WireProtocol } from '#body-work/index.ts';
import type { ResponseEcho, Protocol, WireResponse } from '#protocols/index.ts';
import { readInThreadFrom } from '../attempts/in-thread.ts';
import type { ResponseReader, ReadingResponse } from '../attempts/response-reader.ts';
import type { LargeResponses } from './large-response.ts';
import type { TakeGiven } from './state/given-names.ts';

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
