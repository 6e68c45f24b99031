import type { FastifyRequest } from 'fastify';
import { errorShapeOf } from './error-shape.ts';
import { originOf } from './origin.ts';
import { baseUrlHint, baseUrlSuffix, pathOf } from './target.ts';

/**
 * The headers of every response as flat names and values for `writeHead`: our request id, also under Anthropic's name
 * where messages is spoken, and a hint if the client's base URL had to be repaired.
 */
export function ownHeaders(request: FastifyRequest): string[] {
  const raw = request.raw;
  const headers = ['x-request-id', request.id];
  const target = raw.url ?? '/';
  if (speaksMessages(raw.method, target, raw.headers)) headers.push('request-id', request.id);
  if (request.originalUrl !== target && request.originalUrl.startsWith('/')) {
    const origin = originOf(raw, request.server.publicUrl);
    headers.push('x-sluice-hint', baseUrlHint(origin, baseUrlSuffix(pathOf(target))));
  }
  return headers;
}

function speaksMessages(
  method: string | undefined,
  target: string,
  headers: FastifyRequest['raw']['headers'],
): boolean {
  // Decides the common case without decoding.
  if (target.startsWith('/v1/messages')) return true;
  if (!target.startsWith('/v1/models') && !target.includes('%')) return false;
  return errorShapeOf(method, pathOf(target), headers) === 'messages';
}
