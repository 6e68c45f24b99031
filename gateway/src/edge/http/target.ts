/** A doubled version prefix, or anything else that `repairTarget` repairs. */
const suspect = /\/\/|\/(?:\?|$)|^(?:\/(?:v1beta|v1|api\/v3)){2}(?:[/?]|$)/;
const repeated = /^(?:\/(?:v1beta|v1|api\/v3))+(?=\/(?:v1beta|v1|api\/v3)(?:\/|$))/;

/**
 * The request target for routing. Repairs what wrong base URLs produce: doubled and trailing slashes, and repeated
 * version prefixes (the last one counts). Everything else stays, and a target that is not a path (absolute form, `*`)
 * becomes a path without a route: authentication must never read another path from a target than the router.
 */
export function repairTarget(target: string): string {
  if (target.charCodeAt(0) !== 47) return `/${target}`;
  if (!suspect.test(target)) return target;
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  const slashes = path.replace(/\/{2,}/g, '/');
  const trimmed = slashes.length > 1 && slashes.endsWith('/') ? slashes.slice(0, -1) : slashes;
  return trimmed.replace(repeated, '') + query;
}

/** The path of a target, percent-decoded once like the router does; a path that cannot be decoded stays as it is. */
export function pathOf(target: string): string {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** The end of a client's base URL for the endpoint at this path. */
export function baseUrlSuffix(path: string): string {
  if (path.startsWith('/v1/messages')) return '';
  if (path.startsWith('/v1beta/')) return '/v1beta';
  return path.startsWith('/api/v3/') ? '/api/v3' : '/v1';
}

/** The advice for a wrong base URL, in the header `x-sluice-hint` and in the message of a 404. */
export function baseUrlHint(origin: string, suffix: string): string {
  return `use base URL ${origin}${suffix}`;
}
