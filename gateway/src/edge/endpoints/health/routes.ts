import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { respond, isKnownHost } from '#http/index.ts';
import type { RatesServer } from '#limits/index.ts';

/** The gateway's health for load balancers and people. */
export interface Health {
  /** `unavailable`: it runs but admits nothing that costs something. */
  readonly status: 'ok' | 'draining' | 'unavailable';
  /** Why it is unavailable, in one word; absent otherwise. */
  readonly reason?: string;
  /** Degraded components, in words. */
  readonly degraded: readonly string[];
  /** The Redis that counts rates; absent: none. */
  readonly redis?: RatesServer;
}

/** The routes without a key: liveness, readiness, and warm-up requests of clients. */
export function healthRoutes(health: () => Health) {
  return function healthScope(scope: FastifyInstance, _options: object, done: () => void): void {
    scope.get('/health', (request, reply) => {
      const { status, reason } = health();
      respondHealth(request, reply, status, { status, reason });
    });
    scope.get('/ready', (request, reply) => {
      if (!isKnownHost(request.headers.host, scope.publicUrl)) throw new GatewayError('not_found');
      const { status, degraded, redis } = health();
      respondHealth(request, reply, status, { status, degraded, redis });
    });
    scope.get('/', (request, reply) => {
      respond(request, reply, 200, 'text/plain; charset=utf-8', 'Sluice\n');
    });
    scope.head('/api/hello', (request, reply) => {
      respond(request, reply, 200, 'text/plain; charset=utf-8', '');
    });
    done();
  };
}

/** Seconds: these checks can change within a second. */
const retryAfter = ['retry-after', '1'];

function respondHealth(
  request: FastifyRequest,
  reply: FastifyReply,
  status: Health['status'],
  body: object,
): void {
  const [code, extra] = status === 'ok' ? [200, []] : [503, retryAfter];
  respond(request, reply, code, 'application/json', JSON.stringify(body), extra);
}
