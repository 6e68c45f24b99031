import type { IncomingHttpHeaders } from 'node:http';

/** The bearer token; '' if the header is missing, empty or of another scheme. */
export function bearerToken(headers: IncomingHttpHeaders): string {
  return /^Bearer\s+(\S.*)$/i.exec(headers.authorization ?? '')?.[1] ?? '';
}

/** Accepts any credential, except one that is marked as invalid, for tests of revoked keys. */
export function isInvalidCredential(credential: string): boolean {
  return credential.startsWith('invalid');
}
