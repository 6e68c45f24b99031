import type { IncomingMessage } from 'node:http';
import { trimTrailing } from '#config/index.ts';
import { isKnownHost } from './known-host.ts';

/**
 * The address of this gateway, only for advice to people: the configured public URL, otherwise the host of the request
 * if it is an address or `localhost`. Any other `Host` is never echoed, because it may belong to somebody else.
 */
export function originOf(request: IncomingMessage, publicUrl: string | null): string {
  if (publicUrl !== null) return trimTrailing(publicUrl, '/');
  const host = request.headers.host;
  if (host === undefined || !isKnownHost(host, null)) return '{base_url}';
  return `${'encrypted' in request.socket ? 'https' : 'http'}://${host}`;
}
