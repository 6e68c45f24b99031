import type { FastifyInstance } from 'fastify';
import type { EndpointContext } from '../context.ts';
import { textCall } from '../run-exchange.ts';

const messages = textCall('messages', 'generate');
const countTokens = textCall('messages', 'count-tokens');

/** The messages protocol. Queries (`?beta=true`) have no meaning here. */
export function anthropicRoutes(context: EndpointContext) {
  return function anthropic(scope: FastifyInstance, _options: object, done: () => void): void {
    context.authenticate(scope, { queryKey: false });
    const { admit, countRates, limitLargeBodies } = context;
    scope.post(
      '/v1/messages',
      { onRequest: [admit, countRates.generation, limitLargeBodies] },
      (request, reply) => context.run(request, reply, messages),
    );
    scope.post(
      '/v1/messages/count_tokens',
      { onRequest: [admit, countRates.free, limitLargeBodies] },
      (request, reply) => context.run(request, reply, countTokens),
    );
    done();
  };
}
