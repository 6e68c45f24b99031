import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { trimTrailing } from '#config/index.ts';

/**
 * The address of this gateway, only for advice to people: the configured public URL, otherwise the host of the request
 * if it is an address or `localhost`. Any other `Host` is never echoed, because it may belong to another party.
 */
export function originOf(request: IncomingMessage, publicUrl: string | null): string {
  if (publicUrl !== null) return trimTrailing(publicUrl, '/');
  const host = request.headers.host;
  if (host === undefined || !isKnownHost(host, null)) return '{base_url}';
  return `${'encrypted' in request.socket ? 'https' : 'http'}://${host}`;
}

/**
 * Whether only this gateway can have the host name: an address, `localhost`, or the host of `server.public_url`. A web
 * page can make any other name resolve here (DNS rebinding) and would then read our responses as its own.
 * @param host the header; a request without one, as in HTTP/1.0, does not come from a browser
 */
export function isKnownHost(host: string | undefined, publicUrl: string | null): boolean {
  if (host === undefined) return true;
  const name = nameOf(host);
  if (name === null) return false;
  return (
    name === 'localhost' ||
    isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0 ||
    (publicUrl !== null && name === new URL(publicUrl).hostname.toLowerCase())
  );
}

/** The host without its port; null if it is not a plain host. */
function nameOf(host: string): string | null {
  if (host.length > 255) return null;
  const [, name] = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.exec(host) ?? [];
  return name?.toLowerCase() ?? null;
}
