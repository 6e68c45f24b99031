import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isKnownHost } from '#http/index.ts';
import { ApiError } from '../errors.ts';

/** How a browser is connected, as far as signing in is concerned. */
export interface Connection {
  /** Encrypted up to this gateway, or up to a proxy that it trusts. */
  readonly isSecure: boolean;
  /** From a page of this machine, so that no one can listen. */
  readonly isLocal: boolean;
}

export function connectionOf({ raw, server }: FastifyRequest): Connection {
  return {
    isSecure: server.isEncrypted(raw),
    isLocal:
      isLoopback(raw.socket.remoteAddress ?? '') &&
      // A proxy on this machine speaks for others, named in `server.trusted_proxies` or not.
      !traces.some((name) => raw.headers[name] !== undefined) &&
      // A page of any other name has come from somewhere else, and only its name leads here.
      isKnownHost(raw.headers.host, server.publicUrl),
  };
}

/** Headers that proxies add, and browsers do not. */
const traces = ['x-forwarded-for', 'x-forwarded-proto', 'x-real-ip', 'forwarded', 'via'];

function isLoopback(address: string): boolean {
  const bare = address.startsWith('::ffff:') ? address.slice(7) : address;
  return bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}

/** What makes the gateway know of TLS that ends before it. */
export const proxyOfTls =
  'name the proxy in server.trusted_proxies, and let it send X-Forwarded-Proto: https';

export interface Privacy {
  /** Whether passwords and admin keys count although others could read them on their way. */
  readonly allowInsecure: boolean;
}

/** @throws ApiError `forbidden` where others could read a password or an admin key on its way */
export function assertPrivate(request: FastifyRequest, { allowInsecure }: Privacy): void {
  const { isSecure, isLocal } = connectionOf(request);
  if (isSecure || isLocal || allowInsecure) return;
  const ways = `use https (behind a proxy: ${proxyOfTls}), or set console.insecure_http`;
  throw new ApiError('forbidden', `this connection is not encrypted: ${ways}`);
}
