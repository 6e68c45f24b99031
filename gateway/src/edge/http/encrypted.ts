import type { IncomingMessage } from 'node:http';
import { canonicalAddress, createAddressSet } from './address.ts';

/** Whether nobody between the client and this gateway can read a request, as far as the gateway knows. */
export type IsEncrypted = (request: IncomingMessage) => boolean;

/** Believes `X-Forwarded-Proto` of trusted proxies only. */
export function createIsEncrypted(trustedProxies: readonly string[]): IsEncrypted {
  const trusted = createAddressSet(trustedProxies);
  return ({ socket, headers }) => {
    if ('encrypted' in socket && socket.encrypted === true) return true;
    if (trustedProxies.length === 0) return false;
    const peer = canonicalAddress(socket.remoteAddress ?? '');
    return peer !== null && trusted.has(peer) && headers['x-forwarded-proto'] === 'https';
  };
}
