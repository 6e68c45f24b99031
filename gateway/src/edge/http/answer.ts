import type { FastifyReply, FastifyRequest } from 'fastify';
import { ownHeaders } from './own-headers.ts';

/**
 * Sends a short complete response.
 *
 * @param extra flat names and values, for example `['allow', 'GET']`
 */
export function answer(
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
export function answerJson(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  json: string | Buffer,
): void {
  answer(request, reply, status, 'application/json', json);
}
