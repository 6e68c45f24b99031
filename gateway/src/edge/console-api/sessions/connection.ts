import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';

/** How a browser is connected, as far as signing in is concerned. */
export interface Connection {
  /** Encrypted up to this gateway, or up to a proxy that it trusts. */
  readonly isSecure: boolean;
  /** From this machine, so that nobody can listen. */
  readonly isLocal: boolean;
}

export function connectionOf(request: FastifyRequest): Connection {
  const { raw, server } = request;
  return { isSecure: server.isEncrypted(raw), isLocal: isLoopback(raw.socket.remoteAddress ?? '') };
}

function isLoopback(address: string): boolean {
  const bare = address.startsWith('::ffff:') ? address.slice(7) : address;
  return bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
