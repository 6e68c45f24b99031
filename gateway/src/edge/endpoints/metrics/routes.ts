import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { respond, isKnownHost } from '#http/index.ts';
import type { Metrics } from '#observability/index.ts';

/** Who may scrape: bearers of the token, or without a token only callers on this machine. */
export interface MetricsAccess {
  readonly token: string | null;
}

/** `GET /metrics`. Hidden from everybody else. */
export function metricsRoutes(metrics: Metrics, { token }: MetricsAccess) {
  return function metricsScope(scope: FastifyInstance, _options: object, done: () => void): void {
    const isAllowed =
      token === null
        ? (request: FastifyRequest) =>
            isLocal(request) && isKnownHost(request.headers.host, scope.publicUrl)
        : bearerCheck(token);
    scope.get('/metrics', { config: { isUnlisted: true } }, async (request, reply) => {
      if (!isAllowed(request)) throw new GatewayError('not_found');
      const text = await metrics.render();
      respond(request, reply, 200, metrics.contentType, text, ['cache-control', 'no-store']);
    });
    done();
  };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Compares digests, so that the time reveals neither the length nor the first difference. */
function bearerCheck(token: string): (request: FastifyRequest) => boolean {
  const expectedDigest = digest(token);
  return ({ headers }) => {
    const [, presented] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '') ?? [];
    return presented !== undefined && timingSafeEqual(digest(presented), expectedDigest);
  };
}

const forwarding = ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'] as const;

/**
 * Whether the connection comes from this machine and not from a proxy on it. An unknown proxy would make every client
 * look local, but its headers reveal it.
 */
function isLocal(request: FastifyRequest): boolean {
  const { socket, headers } = request.raw;
  return isLoopback(socket.remoteAddress ?? '') && !forwarding.some((name) => name in headers);
}

function isLoopback(address: string): boolean {
  return /^(?:::ffff:)?127\./i.test(address) || address === '::1';
}
