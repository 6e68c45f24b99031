import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { isKnownHost } from '#http/index.ts';
import type { Actor } from '#administration/index.ts';

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

/** The person behind a call, as the audit log names the author of a change. */
export function actorOf(
  { server, raw, id: requestId }: FastifyRequest,
  { id, email }: { readonly id: string; readonly email: string },
): Actor {
  return { kind: 'user', id, email, address: server.clientAddress(raw), requestId };
}
