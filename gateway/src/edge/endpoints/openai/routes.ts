import type { FastifyInstance, FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { respondJson } from '#http/index.ts';
import { images } from '#protocols/index.ts';
import { callerOf } from '../authentication.ts';
import type { EndpointContext } from '../context.ts';
import { encodeModelPage } from '../model-pages.ts';
import { checkModelPath, modelTail } from '../model-path.ts';
import { textCall, type EmbedCall, type ImageCall } from '../run-exchange.ts';

const chat = textCall('chat', 'generate');
const responses = textCall('responses', 'generate');
const compaction = textCall('responses', 'compact');

const embeddings: EmbedCall = {
  protocol: 'embeddings',
  operation: 'embed',
  pathModel: null,
  pathStream: null,
};

const imageCall = (form: ImageCall['form']): ImageCall =>
  Object.freeze({
    protocol: 'images',
    operation: 'generate',
    form,
    pathModel: null,
    pathStream: null,
  });

const generations = imageCall('generation');
const edits = imageCall('edit');

/** OpenAI's endpoints for text (chat and responses), embeddings and images. */
export function openaiRoutes(context: EndpointContext) {
  return function openai(scope: FastifyInstance, _options: object, done: () => void): void {
    context.authenticate(scope, { queryKey: false });
    const onRequest = [context.admit, context.countRates.generation, context.limitLargeBodies];
    scope.post('/v1/chat/completions', { onRequest }, (request, reply) =>
      context.run(request, reply, chat),
    );
    scope.post('/v1/responses', { onRequest }, (request, reply) =>
      context.run(request, reply, responses),
    );
    scope.post('/v1/responses/compact', { onRequest }, (request, reply) =>
      context.run(request, reply, compaction),
    );
    scope.post('/v1/embeddings', { onRequest }, (request, reply) =>
      context.run(request, reply, embeddings),
    );
    const readGeneration = (type: string) => images.createPieceReader('generation', type);
    scope.post(
      '/v1/images/generations',
      { onRequest, config: { readPieces: readGeneration } },
      (request, reply) => context.run(request, reply, generations),
    );
    const readEdit = (type: string) => images.createPieceReader('edit', type);
    scope.post(
      '/v1/images/edits',
      { onRequest, config: { forms: true, readPieces: readEdit } },
      (request, reply) => context.run(request, reply, edits),
    );
    done();
  };
}

/** The model list that clients of Anthropic's API share. */
export function modelRoutes(context: EndpointContext) {
  return function models(scope: FastifyInstance, _options: object, done: () => void): void {
    scope.addHook('onRequest', checkModelPath);
    context.authenticate(scope, { queryKey: false });
    const freeOptions = { onRequest: context.countRates.free };
    scope.get('/v1/models', freeOptions, (request, reply) => {
      const models = context.lists.of(callerOf(request));
      const page = encodeModelPage(models, request.query, isGeminiSdk(request));
      respondJson(request, reply, 200, page);
    });

    scope.get('/v1/models/*', freeOptions, (request, reply) => {
      const name = modelTail(request.params) ?? '';
      const model = context.lists.find(callerOf(request), name);
      if (model === null) throw new GatewayError('model_not_found', { values: { model: name } });
      const merge = model.gemini !== null && isGeminiSdk(request);
      respondJson(
        request,
        reply,
        200,
        merge ? mergeObjects(model.openai, model.gemini) : model.openai,
      );
    });
    done();
  };
}

/**
 * Codex opens a websocket before every turn and falls back to POST at once on 426, but only on 426: so this ignores the
 * key and comes before its check.
 */
export function websocketRefusal(scope: FastifyInstance, _options: object, done: () => void): void {
  scope.get(
    '/v1/responses',
    { config: { isUnlisted: true }, exposeHeadRoute: false },
    (request): never => {
      if (request.headers.upgrade?.toLowerCase().trim() === 'websocket') {
        throw new GatewayError('websocket_unsupported', { headers: { upgrade: 'HTTP/1.1' } });
      }
      throw new GatewayError('method_not_allowed', { headers: { allow: 'POST' } });
    },
  );
  done();
}

/** The Gemini SDKs call `/v1` if configured for the stable version. */
function isGeminiSdk(request: FastifyRequest): boolean {
  const { headers } = request.raw;
  return (
    headers['x-goog-api-client'] !== undefined ||
    (headers['user-agent']?.startsWith('google-genai-sdk/') ?? false)
  );
}

/** Merges two objects of JSON text without common members. */
function mergeObjects(first: string, second: string): string {
  return `${first.slice(0, -1)},${second.slice(1)}`;
}
