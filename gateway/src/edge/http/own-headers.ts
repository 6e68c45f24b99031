import type { FastifyRequest } from 'fastify';
import { errorShapeOf } from './error-shape.ts';
import { originOf } from './origin.ts';
import { baseUrlHint, baseUrlSuffix, pathOf } from './target.ts';

/**
 * The headers that every answer carries, as a flat list of names and values for `writeHead`: our request id,
 * under Anthropic's name too where messages is spoken, and a hint when the client's base URL had to be repaired.
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
  // The common case is decided without decoding anything.
  if (target.startsWith('/v1/messages')) return true;
  if (!target.startsWith('/v1/models') && !target.includes('%')) return false;
  return errorShapeOf(method, pathOf(target), headers) === 'messages';
}
