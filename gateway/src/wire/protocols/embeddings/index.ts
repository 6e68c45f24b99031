import { encodeErrorObject } from '../shared/text/error-object.ts';
import { openRequest, patchRequest, readRequest } from './request.ts';
import { readResponse } from './response.ts';

export type { EmbeddingsExtent } from './request.ts';
export type { EmbeddingsRequest, OpenedEmbeddings } from './request.ts';
export type { EmbeddingsResponse } from './response.ts';

/** `POST /v1/embeddings` as OpenAI has it and many servers imitate it. Pure, and never a stream. */
export const embeddings = Object.freeze({
  openRequest,
  readRequest,
  patchRequest,
  readResponse,
  encodeError: encodeErrorObject,
});
