/** What a wrong base URL leaves in a target, besides a repeated base. */
const untidy = /\/\/|\/(?:\?|$)/;

/**
 * The request target for routing. Repairs what wrong base URLs produce: doubled and trailing slashes, and repeated
 * version prefixes (the last one counts). Everything else stays, and a target that is not a path (absolute form, `*`)
 * becomes a path without a route: authentication must never read another path from a target than the router.
 *
 * @param bases the version prefixes of the client surfaces, such as `/v1`
 */
export function repairTarget(target: string, bases: readonly string[]): string {
  if (target.charCodeAt(0) !== 47) return `/${target}`;
  const tidy = untidy.test(target) ? withoutUntidySlashes(target) : target;
  let at = 0;
  for (let length = baseLength(tidy, at, bases); length > 0;) {
    const next = baseLength(tidy, at + length, bases);
    if (next > 0) at += length;
    length = next;
  }
  return at === 0 ? tidy : tidy.slice(at);
}

function withoutUntidySlashes(target: string): string {
  const mark = target.indexOf('?');
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = mark === -1 ? '' : target.slice(mark);
  const slashes = path.replace(/\/{2,}/g, '/');
  return (slashes.length > 1 && slashes.endsWith('/') ? slashes.slice(0, -1) : slashes) + query;
}

/** The length of the whole base at this position; 0: there is none. */
function baseLength(target: string, at: number, bases: readonly string[]): number {
  for (const base of bases) {
    if (!target.startsWith(base, at)) continue;
    const end = target[at + base.length];
    if (end === undefined || end === '/' || end === '?') return base.length;
  }
  return 0;
}

/** A path without its base; null if it does not begin with one. */
export function withoutBase(path: string, bases: readonly string[]): string | null {
  const length = baseLength(path, 0, bases);
  return length === 0 || length === path.length ? null : path.slice(length);
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

/** The advice for a wrong base URL, in the header `x-sluice-hint` and in the message of a 404. */
export function baseUrlHint(origin: string, base: string): string {
  return `use base URL ${origin}${base}`;
}
