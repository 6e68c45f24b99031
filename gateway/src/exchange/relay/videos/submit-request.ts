import type { Route } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import type { VideoRequest } from '#protocols/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import type { TaskSide, Vendor } from '#vendors/index.ts';
import {
  allowedAnywhere,
  buildUpstreamRequest,
  forwardedHeaders,
} from '../attempts/upstream-request.ts';
import type { VideoInput } from './input.ts';

/** Where one submit goes. */
export interface SubmitTarget {
  readonly route: Route;
  readonly vendor: Vendor;
  readonly side: TaskSide;
  readonly secret: string | null;
  /** The gateway's settings; the channel's own take precedence. */
  readonly timeouts: Timeouts;
}

/** The whole request for one submit. It gets a connection of its own, because a lost one must not be repeated. */
export function submitRequest(
  { headers, protocol }: Pick<VideoInput, 'headers' | 'protocol'>,
  { body }: Pick<VideoRequest, 'body'>,
  { route, vendor, side, secret, timeouts }: SubmitTarget,
): UpstreamRequest {
  const asked = buildUpstreamRequest({
    operation: 'generate',
    route,
    vendor,
    secret,
    protocol,
    body: bodyWith(body, route.upstreamModel),
    clientHeaders: headers,
    forwarded: forwardedHeaders(headers, allowedAnywhere),
    stream: false,
    timeouts,
  });
  return { ...asked, headers: { ...asked.headers, ...side.submitHeaders }, ownConnection: true };
}

/** In pieces, so that pictures in the body are not copied. */
function bodyWith(
  { before, after }: VideoRequest['body'],
  model: string,
): UpstreamRequest['body'] & {} {
  const name = Buffer.from(JSON.stringify(model));
  return {
    length: before.length + name.length + after.length,
    async *read() {
      yield before;
      yield name;
      yield after;
    },
  };
}
