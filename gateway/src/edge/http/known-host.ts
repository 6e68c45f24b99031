import { isIP } from 'node:net';

/**
 * A name that only this gateway has: an address, `localhost`, or that of `server.public_url`. A page in a browser can make
 * any other name lead here (DNS rebinding) and would then read our answers as its own; these it cannot have.
 * @param host the header; without one, as in HTTP/1.0, it was no browser
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

/** Without its port; null if it is not a plain host. */
function nameOf(host: string): string | null {
  if (host.length > 255) return null;
  const [, name] = /^([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i.exec(host) ?? [];
  return name?.toLowerCase() ?? null;
}
