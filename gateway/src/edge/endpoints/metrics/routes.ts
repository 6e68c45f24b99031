import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { answer, isKnownHost } from '#http/index.ts';
import type { Metrics } from '#observability/index.ts';

/** Who may scrape: bearers of the token, or without one only what runs on this machine. */
export interface MetricsAccess {
  readonly token: string | null;
}

/** `GET /metrics`. To everybody else it does not exist. */
export function metricsRoutes(metrics: Metrics, { token }: MetricsAccess) {
  return function metricsScope(scope: FastifyInstance, _options: object, done: () => void): void {
    const isAllowed =
      token === null
        ? (request: FastifyRequest) =>
            isLocal(request) && isKnownHost(request.headers.host, scope.publicUrl)
        : bearerCheck(token);
    scope.get('/metrics', { config: { unlisted: true } }, async (request, reply) => {
      if (!isAllowed(request)) throw new GatewayError('not_found');
      const text = await metrics.render();
      answer(request, reply, 200, metrics.contentType, text, ['cache-control', 'no-store']);
    });
    done();
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests: neither the length nor the place of the first difference shows in the time. */
function bearerCheck(token: string): (request: FastifyRequest) => boolean {
  const expected = digest(token);
  return ({ headers }) => {
    const [, presented] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    return presented !== undefined && timingSafeEqual(digest(presented), expected);
  };
}

const forwarding = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/**
 * The connection comes from this machine, and from no proxy on it: one that nobody told us of would make every
 * client look local, and gives itself away by its headers.
 */
function isLocal(request: FastifyRequest): boolean {
  const { socket, headers } = request.raw;
  return isLoopback(socket.remoteAddress ?? '') && !forwarding.some((name) => name in headers);
}

function isLoopback(address: string): boolean {
  return /^(?:::ffff:)?127\./i.test(address) || address === '::1';
}
