import type { OperationName, ProtocolName } from '#canonical/index.ts';
import type { Channel, Route } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { trimTrailing } from '#config/index.ts';
import { pathOf, signerOf, type Vendor } from '#vendors/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import type { ExchangeInput } from '../exchange.ts';

export interface UpstreamRequestOptions {
  readonly operation: OperationName;
  /** Existing images are edited. */
  readonly isEdit?: boolean;
  readonly route: Route;
  readonly vendor: Vendor;
  /** The secret of the credential for this attempt; null if the channel has no credentials. */
  readonly secret: string | null;
  /** The upstream's protocol. It is the client's own unless the request was converted. */
  readonly protocol: ProtocolName;
  readonly body: Exclude<UpstreamRequest['body'], null>;
  /** Absent: JSON. */
  readonly contentType?: string;
  /** The headers of the client's request. */
  readonly clientHeaders: ExchangeInput['headers'];
  /** The client's headers that the operation's allow-list lets pass; no others go upstream. */
  readonly forwarded: Readonly<Record<string, string>>;
  /** Whether a stream is requested. */
  readonly stream: boolean;
  /** The gateway's settings; the channel's own take precedence. */
  readonly timeouts: Timeouts;
}

/** The whole request for one attempt. */
export function buildUpstreamRequest(options: UpstreamRequestOptions): UpstreamRequest {
  const { route, vendor, protocol } = options;
  const { channel } = route;
  const target = channelTarget(channel, options.timeouts);
  const path = pathOf(vendor, {
    protocol,
    operation: options.operation,
    model: route.upstreamModel,
    stream: options.stream,
    isEdit: options.isEdit ?? false,
  });
  const headers: Record<string, string> = {
    'content-type': options.contentType ?? 'application/json',
    // Compression would delay the events of a stream, and the gateway would have to decompress them.
    'accept-encoding': 'identity',
    ...options.forwarded,
  };
  const { clientHeaders } = options;
  const { forwardedPrefix } = vendor;
  for (const name in forwardedPrefix === undefined ? {} : clientHeaders) {
    const value = clientHeaders[name];
    if (name.startsWith(forwardedPrefix!) && typeof value === 'string') headers[name] = value;
  }
  Object.assign(headers, target.headers, vendor.headers(options.secret, protocol));
  return {
    origin: target.origin,
    path: target.path + path,
    method: 'POST',
    headers,
    body: options.body,
    signer: signerOf(vendor, options.secret),
    timeouts: target.timeouts,
    proxy: channel.proxy,
  };
}

/** Client headers that may go to any upstream. */
export const allowedAnywhere: readonly string[] = ['accept', 'user-agent'];

/** The client's headers that an allow-list names. */
export function forwardedHeaders(
  headers: ExchangeInput['headers'],
  allowedHeaders: readonly string[],
): Record<string, string> {
  const passedHeaders: Record<string, string> = {};
  for (const name of allowedHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') passedHeaders[name] = value;
  }
  return passedHeaders;
}

/** What all requests to one channel share. */
interface ChannelTarget {
  readonly origin: string;
  readonly path: string;
  /** The channel's own headers, by lower-case name. They replace the client's in any spelling. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeouts: Timeouts;
}

/** By channel object: made once, and collected together with its snapshot. */
const targets = new WeakMap<Channel, ChannelTarget>();

/** @param timeouts the gateway's settings; the channel's own take precedence */
export function channelTarget(channel: Channel, timeouts: Timeouts): ChannelTarget {
  let target = targets.get(channel);
  if (target === undefined) {
    const { origin, pathname } = new URL(channel.baseUrl);
    const own = Object.entries(channel.headers);
    const headers = Object.fromEntries(own.map(([name, value]) => [name.toLowerCase(), value]));
    const path = trimTrailing(pathname, '/');
    target = { origin, path, headers, timeouts: { ...timeouts, ...channel.timeouts } };
    targets.set(channel, target);
  }
  return target;
}
