/** The key that a request presents. */
export type Presented =
  | { readonly kind: 'none' }
  /** Several different keys, or something that cannot be a key. */
  | { readonly kind: 'unusable' }
  | { readonly kind: 'key'; readonly secret: string };

const none: Presented = Object.freeze({ kind: 'none' });
const unusable: Presented = Object.freeze({ kind: 'unusable' });

/** Longer secrets are not looked up. Characters. */
const longestSecret = 512;
const bearer = /^bearer(?:[ \t]+|$)/i;

/**
 * Reads the key of a request from every header that can carry it, and from `?key=` if the endpoint allows that. Reads
 * the raw list, because Node keeps only the first of a repeated `authorization` and joins the others. Here every
 * occurrence counts: the same key twice is fine, two different keys are not.
 *
 * @param rawHeaders names and values alternating, as received
 * @param queryKeys values of `?key=`; empty if the query is not a place for keys
 */
export function presentedKey(
  rawHeaders: readonly string[],
  queryKeys: readonly string[] = [],
): Presented {
  let secret = '';
  let otherScheme = false;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!isKeyHeader(name)) continue;
    let value = (rawHeaders[index + 1] ?? '').trim();
    if (name.length === authorization.length && value !== '') {
      if (bearer.test(value)) value = value.replace(bearer, '');
      else {
        otherScheme = true;
        continue;
      }
    }
    if (value === '' || value === secret) continue;
    if (secret !== '') return unusable;
    secret = value;
  }
  for (const value of queryKeys) {
    if (value === '' || value === secret) continue;
    if (secret !== '') return unusable;
    secret = value;
  }
  if (secret === '') return otherScheme ? unusable : none;
  // Anything else cannot be a key and costs no look-up.
  const isPossible = secret.startsWith('sk-') && secret.length <= longestSecret;
  return isPossible ? { kind: 'key', secret } : unusable;
}

const authorization = 'authorization';

/** Checks the length first: this runs for every header of every request. */
function isKeyHeader(name: string): boolean {
  switch (name.length) {
    case 9:
      return name.toLowerCase() === 'x-api-key';
    case 13:
      return name.toLowerCase() === authorization;
    case 14:
      return name.toLowerCase() === 'x-goog-api-key';
    case 17:
      return name.toLowerCase() === 'x-vendorc-api-key';
    default:
      return false;
  }
}
