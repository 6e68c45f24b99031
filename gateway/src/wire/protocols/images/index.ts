import type { GatewayError } from '#errors/index.ts';
import { encodeErrorObject } from '../shared/text/error-object.ts';
import { commentKeepAlive, frame } from '../shared/text/events.ts';
import { eventNamesFor } from './event-names.ts';
import { openEdit, openGeneration, modelEdit, patchRequest } from './json-request.ts';
import { createPieceReader } from './piece-reader.ts';
import { readRequest } from './request.ts';
import { readResponse } from './response.ts';
import { toEvents } from './event-frame.ts';
import { ImageResponseScan } from './scan-response.ts';
import { type ImageStreamContext, ImagesStreamTap, isWholeEvent } from './stream-tap.ts';

export type { ImageEventNames } from './event-names.ts';
export type { ImagePieceReader } from './piece-reader.ts';
export type { ScannedImages } from './scan-response.ts';
export type { ImageStreamContext, ImagesStreamTap } from './stream-tap.ts';
export type {
  ImageEntry,
  ImageFile,
  ImagesRequest,
  ImagesResponse,
  OpenedImages,
  StoredBytes,
} from './types.ts';

/** `POST /v1/images/generations` and `/edits` as OpenAI has them and others imitate them. Pure. */
export const images = Object.freeze({
  openGeneration,
  openEdit,
  readRequest,
  patchRequest,
  modelEdit,
  createPieceReader,
  readResponse,
  scanResponse: () => new ImageResponseScan(),
  eventNamesFor,
  toEvents,
  isWholeEvent,
  /** One per attempt of a streamed request. */
  createStreamTap: (context: ImageStreamContext) => new ImagesStreamTap(context),
  encodeError: encodeErrorObject,
  encodeStreamError: (error: GatewayError) => frame(null, encodeErrorObject(error)),
  keepAlive: () => commentKeepAlive,
});
