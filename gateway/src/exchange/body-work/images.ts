import { images, type ImageResponse, type OpenedImages } from '#protocols/index.ts';
import { asBuffer } from './bytes.ts';
import type { Job } from './jobs.ts';
import { readOrReport, type Unreadable } from './unreadable.ts';

/** What a thread made of a complete response with pictures. */
export type ImageResult =
  | (Omit<ImageResponse, 'body'> & {
      readonly kind: 'whole';
      /** For the client. */
      readonly body: Uint8Array;
    })
  | Unreadable;

/** @throws GatewayError for a body that does not name a model. */
export function readImagesJob({
  form,
  contentType,
  body,
}: Extract<Job, { kind: 'image-read' }>): Omit<OpenedImages, 'body'> {
  const bytes = asBuffer(body);
  const opened =
    form === 'generation' ? images.openGeneration(bytes) : images.openEdit(bytes, contentType);
  const { body: _, ...rest } = opened;
  return rest;
}

export function readImageResponseJob({
  body,
  echo,
}: Extract<Job, { kind: 'image-response' }>): ImageResult {
  return readOrReport(() => ({ kind: 'whole', ...images.readResponse(asBuffer(body), echo) }));
}
