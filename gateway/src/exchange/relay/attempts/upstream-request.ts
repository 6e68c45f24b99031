import type { OperationName, ProtocolName } from '#canonical/index.ts';
import type { Channel, Route } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { trimTrailing } from '#config/index.ts';
import { pathOf, signerOf, type Vendor } from '#vendors/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import type { ExchangeInput } from '../exchange/input.ts';

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
  const base = baseOf(channel);
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
  if (vendor.forwards !== undefined) {
    copyHeaders(options.clientHeaders, headers, vendor.forwards);
  }
  Object.assign(headers, channelHeaders(channel), vendor.headers(options.secret, protocol));
  return {
    origin: base.origin,
    path: base.path + path,
    method: 'POST',
    headers,
    body: options.body,
    signer: signerOf(vendor, options.secret),
    timeouts: channelTimeouts(channel, options.timeouts),
    proxy: channel.proxy,
  };
}

/** Client headers that may go to any upstream. */
export const allowedAnywhere: readonly string[] = ['accept', 'user-agent'];

/** The client's headers that an allow-list names. */
export function forwardedHeaders(
  headers: ExchangeInput['headers'],
  allowed: readonly string[],
): Record<string, string> {
  const forwarded: Record<string, string> = {};
  for (const name of allowed) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') forwarded[name] = value;
  }
  return forwarded;
}

function copyHeaders(
  from: ExchangeInput['headers'],
  to: Record<string, string>,
  isForwarded: (name: string) => boolean,
): void {
  for (const name in from) {
    const value = from[name];
    if (isForwarded(name) && typeof value === 'string') to[name] = value;
  }
}

/** By channel object, like `bases`. */
const lowered = new WeakMap<Channel, Readonly<Record<string, string>>>();

/** The channel's own headers, by lower-case name. They replace the client's, whatever their spelling. */
export function channelHeaders(channel: Channel): Readonly<Record<string, string>> {
  let own = lowered.get(channel);
  if (own === undefined) {
    const entries = Object.entries(channel.headers);
    own = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
    lowered.set(channel, own);
  }
  return own;
}

interface Base {
  readonly origin: string;
  readonly path: string;
}

/** By channel object: parsed once, and collected together with its snapshot. */
const bases = new WeakMap<Channel, Base>();

function baseOf(channel: Channel): Base {
  let base = bases.get(channel);
  if (base === undefined) {
    const url = new URL(channel.baseUrl);
    base = { origin: url.origin, path: trimTrailing(url.pathname, '/') };
    bases.set(channel, base);
  }
  return base;
}

const merged = new WeakMap<Channel, Timeouts>();

function channelTimeouts(channel: Channel, timeouts: Timeouts): Timeouts {
  let own = merged.get(channel);
  if (own === undefined) merged.set(channel, (own = { ...timeouts, ...channel.timeouts }));
  return own;
}
