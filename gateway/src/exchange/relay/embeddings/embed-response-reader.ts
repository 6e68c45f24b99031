import type { BodyPool } from '#body-work/index.ts';
import type { EmbeddingsResponse, ModelEcho } from '#protocols/index.ts';
import { callOnResponse } from '../attempts/in-thread.ts';
import type { ReadingResponse, ResponseReader } from '../attempts/response-reader.ts';

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
