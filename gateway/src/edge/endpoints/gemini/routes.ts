import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { respondJson } from '#http/index.ts';
import { callerOf } from '../authentication.ts';
import type { EndpointContext } from '../context.ts';
import { encodeGeminiPage } from '../model-pages.ts';
import { checkModelPath, modelTail, parseModelCall } from '../model-path.ts';
import { queryText } from '../query.ts';
import type { TextCall } from '../run-exchange.ts';

/** The generate-content protocol under its own prefix, where the key may be in the query. */
export function geminiRoutes(context: EndpointContext) {
  return function gemini(scope: FastifyInstance, _options: object, done: () => void): void {
    scope.addHook('onRequest', checkModelPath);
    context.authenticate(scope, { queryKey: true });
    scope.post('/v1beta/models/*', { onRequest: hooks(context) }, (request, reply) =>
      run(context, request, reply),
    );

    const freeOptions = { onRequest: context.countRates.free };
    scope.get('/v1beta/models', freeOptions, (request, reply) => {
      const models = context.lists.of(callerOf(request));
      respondJson(request, reply, 200, encodeGeminiPage(models, request.query));
    });

    scope.get('/v1beta/models/*', freeOptions, (request, reply) => {
      const name = modelTail(request.params) ?? '';
      const entry = context.lists.find(callerOf(request), name)?.gemini ?? null;
      if (entry === null) throw new GatewayError('model_not_found', { values: { model: name } });
      respondJson(request, reply, 200, entry);
    });
    done();
  };
}

/** Newer SDKs of generate-content call the same endpoints under `/v1`. */
export function geminiV1Routes(context: EndpointContext) {
  return function geminiV1(scope: FastifyInstance, _options: object, done: () => void): void {
    scope.addHook('onRequest', checkModelPath);
    context.authenticate(scope, { queryKey: false });
    scope.post('/v1/models/*', { onRequest: hooks(context) }, (request, reply) =>
      run(context, request, reply),
    );
    done();
  };
}

function hooks(context: EndpointContext): onRequestHookHandler[] {
  const kindOf = ({ params }: FastifyRequest) =>
    parseModelCall(modelTail(params) ?? '')?.action === 'countTokens' ? 'free' : 'generation';
  return [context.admit, context.countRates.by(kindOf), context.limitLargeBodies];
}

function run(context: EndpointContext, request: FastifyRequest, reply: FastifyReply): void {
  const call = parseModelCall(modelTail(request.params) ?? '');
  if (call === null) throw new GatewayError('not_found');
  const stream = call.action === 'streamGenerateContent';
  const text: TextCall = {
    protocol: 'generate-content',
    operation: call.action === 'countTokens' ? 'count-tokens' : 'generate',
    pathModel: call.model,
    pathStream: stream,
    framing: stream && queryText(request.query, 'alt') !== 'sse' ? 'json-array' : 'event-stream',
  };
  context.run(request, reply, text);
}
