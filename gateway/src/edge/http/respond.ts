import type { FastifyReply, FastifyRequest } from 'fastify';
import { originOf } from './origin.ts';
import { baseUrlHint, pathOf } from './surface.ts';

/**
 * The headers of every response as flat names and values for `writeHead`: our request id, also under the name that the
 * surface's own clients read, and a hint if the client's base URL had to be repaired.
 */
export function ownHeaders(request: FastifyRequest): string[] {
  const { raw, server } = request;
  const headers = ['x-request-id', request.id];
  const { requestIdHeader } = server.surfaces.shapeOf(raw);
  if (requestIdHeader !== undefined) headers.push(requestIdHeader, request.id);
  const target = raw.url ?? '/';
  if (request.originalUrl !== target && request.originalUrl.startsWith('/')) {
    const origin = originOf(raw, server.publicUrl);
    headers.push('x-sluice-hint', baseUrlHint(origin, server.surfaces.baseOf(pathOf(target))));
  }
  return headers;
}

/**
 * Sends a short complete response.
 *
 * @param extra flat names and values, for example `['allow', 'GET']`
 */
export function respond(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  contentType: string,
  body: string | Buffer,
  extra: readonly string[] = [],
): void {
  reply.hijack();
  const headers = ownHeaders(request);
  headers.push('content-type', contentType);
  headers.push('content-length', String(Buffer.byteLength(body)), ...extra);
  if (request.server.isDraining()) headers.push('connection', 'close');
  reply.raw.writeHead(status, headers);
  // Node omits the body in a response to HEAD.
  reply.raw.end(body);
}

/** Sends JSON text. */
export function respondJson(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  json: string | Buffer,
): void {
  respond(request, reply, status, 'application/json', json);
}
