import { encodeErrorObject } from '../error-object.ts';
import { openEdit, openGeneration } from './open-request.ts';
import { patchRequest } from './patch-request.ts';
import { readRequest } from './request.ts';
import { readResponse } from './response.ts';

export type {
  ImageEntry,
  ImageFile,
  ImageRequest,
  ImageResponse,
  ImageTokens,
  OpenedImages,
  ReportedImageUsage,
} from './types.ts';

/** `POST /v1/images/generations` and `/edits` as OpenAI has them and others imitate them. Pure. */
export const images = Object.freeze({
  openGeneration,
  openEdit,
  readRequest,
  patchRequest,
  readResponse,
  encodeError: encodeErrorObject,
});
