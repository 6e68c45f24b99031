import { unreadableOf, type BodyPool } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import { embeddings, type EmbeddingsResponse, type ModelEcho } from '#protocols/index.ts';
import { readInThreadFrom } from '../attempts/in-thread.ts';
import {
  threadRefused,
  type ReadingResponse,
  type ResponseReader,
} from '../attempts/response-reader.ts';

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

  read(body: Buffer): EmbeddingsResponse {
    return embeddings.readResponse(body, this.#echo);
  }

  readInThread(body: Buffer): ReadingResponse<EmbeddingsResponse> | null {
    if (body.length < readInThreadFrom) return null;
    const job = { kind: 'embed-response', body, echo: this.#echo } as const;
    const running = this.#bodies.run<'embed-response'>(this.#keyId, job);
    const result = running.result.then(({ outcome }): EmbeddingsResponse => {
      if ('error' in outcome) throw outcome.error;
      const { value } = outcome;
      if (value.kind === 'unreadable') throw unreadableOf(value);
      // The pool returns bodies as Buffers.
      return { ...value, body: value.body as Buffer };
    }, threadRefused);
    return { result, abandon: () => running.abandon(new GatewayError('unavailable')) };
  }
}
