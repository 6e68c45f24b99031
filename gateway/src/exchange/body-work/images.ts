import { images, type OpenedImages } from '#protocols/index.ts';
import { asBuffer } from './bytes.ts';
import type { ImageResult } from './image-result.ts';
import type { Job } from './jobs.ts';
import { readOrReport } from './unreadable.ts';

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
