import type { IncomingMessage } from 'node:http';
import { canonicalAddress, createAddressSet } from './address.ts';

/** The client's canonical address; null if it is unknown, which no allowlist contains. */
export type ClientAddress = (request: IncomingMessage) => string | null;

/**
 * The address of the connection. With trusted proxies: the rightmost address of `X-Forwarded-For` that is not a trusted
 * proxy. Everything left of it is the client's own claim. No other header is read.
 */
export function createClientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trustedAddresses = createAddressSet(trustedProxies);

  return function clientAddress(request) {
    const peer = canonicalAddress(withoutZone(request.socket.remoteAddress ?? ''));
    if (trustedProxies.length === 0 || peer === null || !trustedAddresses.has(peer)) return peer;
    let address = peer;
    const hops = forwardedFor(request).split(',');
    for (let index = hops.length - 1; index >= 0; index--) {
      const hop = (hops[index] ?? '').trim();
      if (hop === '') continue;
      const hopAddress = canonicalAddress(withoutPort(hop));
      if (hopAddress === null) return null;
      address = hopAddress;
      if (!trustedAddresses.has(address)) break;
    }
    return address;
  };
}

function forwardedFor(request: IncomingMessage): string {
  const header = request.headers['x-forwarded-for'];
  return Array.isArray(header) ? header.join(',') : (header ?? '');
}

/** Only the kernel adds zones (`fe80::1%eth0`); from anyone else they are garbage. */
function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}

/** `1.2.3.4:5678` and `[2001:db8::1]:443`, as some proxies write them. */
function withoutPort(hop: string): string {
  const bracketMatch = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop);
  if (bracketMatch !== null) return bracketMatch[1] ?? '';
  const portMatch = /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(hop);
  return portMatch?.[1] ?? hop;
}

/** Whether a request cannot be read between the client and this gateway, as far as the gateway knows. */
export type IsEncrypted = (request: IncomingMessage) => boolean;

/** Believes `X-Forwarded-Proto` of trusted proxies only. */
export function createIsEncrypted(trustedProxies: readonly string[]): IsEncrypted {
  const trustedAddresses = createAddressSet(trustedProxies);
  return ({ socket, headers }) => {
    if ('encrypted' in socket && socket.encrypted === true) return true;
    if (trustedProxies.length === 0) return false;
    const peer = canonicalAddress(socket.remoteAddress ?? '');
    return peer !== null && trustedAddresses.has(peer) && headers['x-forwarded-proto'] === 'https';
  };
}
