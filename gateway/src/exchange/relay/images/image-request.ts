import type { Route } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';
import { images, type ImageRequest } from '#protocols/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import { vendorOf, type Vendor } from '#vendors/index.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import type { ImageBody, ImageInput } from './input.ts';
import type { ImageParts } from './parts.ts';

const allowed: readonly string[] = [...allowedAnywhere, 'openai-beta'];

/** Where one attempt goes. */
export interface ImageTarget {
  readonly route: Route;
  readonly vendor: Vendor;
  readonly secret: string | null;
}

/** The client's bytes unchanged, except for the model's name at the channel. */
export function imageRequest(
  { timeouts }: Pick<ImageParts, 'timeouts'>,
  { headers }: Pick<ImageInput, 'headers'>,
  request: ImageRequest<ImageBody>,
  { route, vendor, secret }: ImageTarget,
): UpstreamRequest {
  const asked = buildUpstreamRequest({
    operation: 'generate',
    isEdit: request.form === 'edit',
    route,
    vendor,
    secret,
    protocol: 'images',
    body: bodyFor(request, route.upstreamModel),
    contentType: request.contentType,
    clientHeaders: headers,
    forwarded: forwardedHeaders(headers, allowed),
    stream: request.stream,
    timeouts,
  });
  return forPictures(asked);
}

function bodyFor(
  request: ImageRequest<ImageBody>,
  upstreamModel: string,
): Exclude<UpstreamRequest['body'], null> {
  const { body } = request;
  if (Buffer.isBuffer(body)) return images.patchRequest({ ...request, body }, upstreamModel).body;
  const edit = images.modelEdit(request, upstreamModel);
  return body.edited(edit === null ? [] : [edit]);
}

export function imageVendor({ channel }: Route): Vendor {
  const vendor = vendorOf(channel);
  if (vendor === undefined) throw new GatewayError('internal_error');
  return vendor;
}

/**
 * Pictures take longer than text, the second one as long as the first: within the response, too, silence may last as
 * long as before it. A lost request must not be repeated.
 */
export function forPictures(request: UpstreamRequest): UpstreamRequest {
  const { timeouts } = request;
  const firstByte = timeouts.imageFirstByte;
  return {
    ...request,
    timeouts: { ...timeouts, firstByte, streamIdle: Math.max(timeouts.streamIdle, firstByte) },
    ownConnection: true,
  };
}
