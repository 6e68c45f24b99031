import type { IncomingMessage } from 'node:http';
import { trimTrailing } from '#config/index.ts';
import { isKnownHost } from './known-host.ts';

/**
 * How this gateway is addressed, for advice to people only: the configured public URL, else what the client
 * called it by an address or `localhost`. Any other `Host` is never echoed: it may be somebody else's.
 */
export function originOf(request: IncomingMessage, publicUrl: string | null): string {
  if (publicUrl !== null) return trimTrailing(publicUrl, '/');
  const host = request.headers.host;
  if (host === undefined || !isKnownHost(host, null)) return '{base_url}';
  return `${'encrypted' in request.socket ? 'https' : 'http'}://${host}`;
}
