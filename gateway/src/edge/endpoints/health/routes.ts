import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { answer, isKnownHost } from '#http/index.ts';

/** How the gateway is, as load balancers and people ask. */
export interface Health {
  /** `unavailable`: it runs but can admit nothing. */
  readonly status: 'ok' | 'draining' | 'unavailable';
  /** What works with less than usual, in words. */
  readonly degraded: readonly string[];
}

/** Everything that is answered without a key: liveness, readiness, and the warm-up requests of clients. */
export function healthRoutes(health: () => Health) {
  return function healthScope(scope: FastifyInstance, _options: object, done: () => void): void {
    scope.get('/health', (request, reply) => {
      const draining = health().status === 'draining';
      const body = JSON.stringify({ status: draining ? 'draining' : 'ok' });
      answerHealth(request, reply, draining ? 503 : 200, body);
    });
    scope.get('/ready', (request, reply) => {
      if (!isKnownHost(request.headers.host, scope.publicUrl)) throw new GatewayError('not_found');
      const { status, degraded } = health();
      const body = JSON.stringify({ status, degraded });
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

/** Seconds: what is looked at here changes from one second to the next. */
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
