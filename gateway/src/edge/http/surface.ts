import type { IncomingMessage } from 'node:http';
import type { GatewayError } from '#errors/index.ts';

/** How the clients of a surface read an error. */
export interface ErrorShape {
  /** The whole error body as JSON text. `requestId` is ours. */
  encodeError(error: GatewayError, requestId: string): string;
  /** Additional headers that its clients read, as flat names and values. */
  headersOf?(error: GatewayError): readonly string[];
  /** A second header for the request id, where the clients of this shape look for it. */
  readonly requestIdHeader?: string;
}

/** The paths of one client API. `endpoints/surfaces.ts` declares them; nothing here knows one by name. */
export interface Surface {
  /** What its paths begin with. A prefix that ends in `/` covers the same path without it too. */
  readonly prefix: string;
  /** The end of a client's base URL, such as `/v1`; may be empty. */
  readonly base: string;
  /** Its paths have one spelling each: no slip in a base URL leads to them. */
  readonly isExact?: true;
  /** A function where the request decides, because several protocols share a path. */
  readonly shape: ErrorShape | ((request: RequestHead, path: string) => ErrorShape);
}

export type RequestHead = Pick<IncomingMessage, 'method' | 'headers'>;

/** All surfaces of a server. */
export interface Surfaces {
  /** The shape of an error for a request, including paths that do not exist. */
  shapeOf(request: RequestHead & Pick<IncomingMessage, 'url'>): ErrorShape;
  /** The end of a client's base URL for the endpoint at this path. */
  baseOf(path: string): string;
  /** Whether nothing may be repaired to become this path. */
  isExact(path: string): boolean;
  /** The bases, longest first; without the empty one. */
  readonly bases: readonly string[];
}

/**
 * The surface with the longest matching prefix has a path.
 * @throws Error unless one of them has the prefix `/`, for every path that no other covers
 */
export function createSurfaces(list: readonly Surface[]): Surfaces {
  const longestFirst = list.toSorted((a, b) => b.prefix.length - a.prefix.length);
  const other = longestFirst.at(-1);
  if (other?.prefix !== '/') throw new Error("no surface has the prefix '/'");
  const surfaceAt = (path: string): Surface => {
    for (const surface of longestFirst) {
      if (path.startsWith(surface.prefix) || surface.prefix === `${path}/`) return surface;
    }
    return other;
  };
  const bases = new Set(list.map(({ base }) => base).filter((base) => base !== ''));
  return Object.freeze({
    shapeOf(request) {
      const path = pathOf(request.url ?? '/');
      const { shape } = surfaceAt(path);
      return typeof shape === 'function' ? shape(request, path) : shape;
    },
    // An endpoint lies below its prefix: the bare prefix belongs to the other paths here.
    baseOf: (path) =>
      longestFirst.find(({ prefix }) => path.startsWith(prefix))?.base ?? other.base,
    isExact: (path) => surfaceAt(path).isExact === true,
    bases: [...bases].toSorted((a, b) => b.length - a.length),
  } satisfies Surfaces);
}

/** What a wrong base URL leaves in a target, apart from a repeated base. */
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
