import type { FastifyInstance } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { respondJson } from '#http/index.ts';
import { videoList, videoProtocols } from '#protocols/index.ts';
import type { EndpointContext } from '../context.ts';
import { requireTask, ownerOf, taskIdOf } from '../own-tasks.ts';
import { videoCall } from '../run-exchange.ts';

const protocol = videoProtocols['video-contents'];
const submit = videoCall(protocol.name);
const tasks = '/api/v3/contents/generations/tasks';

/** The second dialect of video tasks: submits, looks at one task or many, and removals. */
export function videoContentsRoutes(context: EndpointContext) {
  return function videoContents(scope: FastifyInstance, _options: object, done: () => void): void {
    context.authenticate(scope, { queryKey: false });
    const onRequest = [context.admit, context.countRates.generation, context.limitLargeBodies];
    const freeOptions = { onRequest: context.countRates.free };
    scope.post(tasks, { onRequest }, (request, reply) => context.run(request, reply, submit));

    scope.get(tasks, freeOptions, async (request, reply) => {
      const query = videoList.readListQuery(request.query);
      const page = await context.tasks.list(ownerOf(request, protocol.name), query);
      respondJson(request, reply, 200, videoList.encodeTaskList(page.total, page.tasks));
    });

    scope.get(`${tasks}/:id`, freeOptions, async (request, reply) => {
      const id = taskIdOf(request, protocol);
      const task = requireTask(await context.tasks.find(ownerOf(request, protocol.name), id));
      respondJson(request, reply, 200, protocol.encodeTask(task, request.id));
    });

    scope.register(removal(context));
    done();
  };
}

/** SDKs declare JSON and send no body, so a separate scope reads none. */
function removal(context: EndpointContext) {
  return function videoRemoval(scope: FastifyInstance, _options: object, done: () => void): void {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, onParsed) => {
      payload.resume();
      onParsed(null);
    });
    const freeOptions = { onRequest: context.countRates.free };
    scope.delete(`${tasks}/:id`, freeOptions, async (request, reply) => {
      const id = taskIdOf(request, protocol);
      const removalResult = requireTask(
        await context.tasks.remove(ownerOf(request, protocol.name), id),
      );
      if (removalResult === 'running') {
        const reason = 'a task that is running cannot be cancelled';
        throw new GatewayError('invalid_value', { values: { reason } });
      }
      respondJson(request, reply, 200, '{}');
    });
    done();
  };
}
