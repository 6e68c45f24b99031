import type { IncomingMessage } from 'node:http';
import type { GatewayError } from '#errors/index.ts';
import { pathOf } from './target.ts';

/** How the clients of a surface read an error. */
export interface ErrorShape {
  /** The whole error body as JSON text. `requestId` is ours. */
  encodeError(error: GatewayError, requestId: string): string;
  /** Headers that its clients read besides, as flat names and values. */
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
