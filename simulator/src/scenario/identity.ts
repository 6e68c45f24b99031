import { createHash, hash } from 'node:crypto';

/** Digest of the raw body: equal requests get equal responses with equal ids. */
export function identify(body: Uint8Array): string {
  return hash('sha256', body, 'hex').slice(0, 32);
}

/** Another id of the same request. */
export function deriveId(identity: string, ...purpose: readonly (string | number)[]): string {
  return createHash('sha256')
    .update(`${identity}/${purpose.join('/')}`)
    .digest('hex')
    .slice(0, 24);
}
