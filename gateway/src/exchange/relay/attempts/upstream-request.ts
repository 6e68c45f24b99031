import type { TextProtocolName } from '#canonical/index.ts';
import type { Channel, Route } from '#catalogue/index.ts';
import type { Timeouts } from '#config/index.ts';
import { trimTrailing } from '#config/index.ts';
import type { PatchedRequest } from '#protocols/index.ts';
import type { Provider } from '#vendors/index.ts';
import type { UpstreamRequest } from '#upstream/index.ts';
import type { ExchangeInput } from '../exchange.ts';

/** The header whose names may cost something. */
export const betaHeader = 'anthropic-beta';

/** Client headers that may go upstream. */
const forwarded = ['accept', 'user-agent', 'anthropic-version', betaHeader, 'openai-beta'];

/** To an upstream of another protocol, whose versions and betas are not the client's. */
const forwardedAnywhere = forwarded.slice(0, 2);

const defaultAnthropicVersion = '2023-06-01';

export interface UpstreamRequestOptions {
  readonly input: ExchangeInput;
  readonly route: Route;
  readonly provider: Provider;
  /** Of the credential that the attempt is made with; null for a channel without any. */
  readonly secret: string | null;
  /** The upstream's, which is the client's own unless the request was converted. */
  readonly protocol: TextProtocolName;
  readonly patched: PatchedRequest;
  /** In place of the client's betas; null or absent: they pass as they are. */
  readonly betas?: string | null;
  /** Whether the answer is asked for as a stream. */
  readonly stream: boolean;
  /** The gateway's; the channel's own go before them. */
  readonly timeouts: Timeouts;
}

/** The whole request for one attempt. Headers are built from an allow-list: nothing else of the client's goes on. */
export function buildUpstreamRequest(options: UpstreamRequestOptions): UpstreamRequest {
  const { input, route, provider, protocol } = options;
  const { channel } = route;
  const base = baseOf(channel);
  const path = provider.path({
    protocol,
    operation: input.operation,
    model: route.upstreamModel,
    stream: options.stream,
  });
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    // Compression would hold back the events of a stream, and unpacking is work an answer does not need.
    'accept-encoding': 'identity',
  };
  const names = protocol === input.protocol ? forwarded : forwardedAnywhere;
  for (const name of names) {
    const value = input.headers[name];
    if (typeof value === 'string' && value !== '') headers[name] = value;
  }
  if (typeof options.betas === 'string') setBetas(headers, options.betas);
  if (protocol === 'messages') headers['anthropic-version'] ??= defaultAnthropicVersion;
  if (provider.forwards !== undefined) copyHeaders(input.headers, headers, provider.forwards);
  Object.assign(headers, channelHeaders(channel), provider.headers(options.secret, protocol));
  return {
    origin: base.origin,
    path: base.path + path,
    method: 'POST',
    headers,
    body: options.patched.body,
    timeouts: channelTimeouts(channel, options.timeouts),
  };
}

function setBetas(headers: Record<string, string>, betas: string): void {
  if (betas === '') delete headers[betaHeader];
  else headers[betaHeader] = betas;
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

/** Per channel object, as `bases`. */
const lowered = new WeakMap<Channel, Readonly<Record<string, string>>>();

/** The channel's own headers by lower-case name: they go before what the client sends, however they are written. */
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

/** Per channel object: parsed once, forgotten with the snapshot it belongs to. */
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
