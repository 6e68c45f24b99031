import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { answer, isKnownHost } from '#http/index.ts';
import type { RatesServer } from '#limits/index.ts';

/** The gateway's health for load balancers and people. */
export interface Health {
  /** `unavailable`: it runs but cannot admit anything. */
  readonly status: 'ok' | 'draining' | 'unavailable';
  /** Degraded components, in words. */
  readonly degraded: readonly string[];
  /** The Redis that counts rates; absent: none. */
  readonly redis?: RatesServer;
}

/** The routes without a key: liveness, readiness, and warm-up requests of clients. */
export function healthRoutes(health: () => Health) {
  return function healthScope(scope: FastifyInstance, _options: object, done: () => void): void {
    scope.get('/health', (request, reply) => {
      const draining = health().status === 'draining';
      const body = JSON.stringify({ status: draining ? 'draining' : 'ok' });
      answerHealth(request, reply, draining ? 503 : 200, body);
    });
    scope.get('/ready', (request, reply) => {
      if (!isKnownHost(request.headers.host, scope.publicUrl)) throw new GatewayError('not_found');
      const { status, degraded, redis } = health();
      const body = JSON.stringify({ status, degraded, redis });
      answerHealth(request, reply, status === 'ok' ? 200 : 503, body);
    });
    scope.get('/', (request, reply) => {
      answer(request, reply, 200, 'text/plain; charset=utf-8', 'Sluice\n');
    });
    scope.head('/api/hello', (request, reply) => {
      answer(request, reply, 200, 'text/plain; charset=utf-8', '');
    });
    done();
  };
}

/** Seconds: these checks can change within a second. */
const retryAfter = ['retry-after', '1'];

function answerHealth(
  request: FastifyRequest,
  reply: FastifyReply,
  status: 200 | 503,
  body: string,
): void {
  const extra = status === 503 ? retryAfter : [];
  answer(request, reply, status, 'application/json', body, extra);
}
