import type { Caller } from '#identity/index.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller; null before authentication and on endpoints without it. */
    caller: Caller | null;
  }
}

/** The caller of a request on an authenticated endpoint. */
export function callerOf(request: { readonly caller: Caller | null }): Caller {
  if (request.caller === null) throw new Error('this endpoint does not authenticate');
  return request.caller;
}
