import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { respondJson } from '#http/index.ts';
import { videoProtocols } from '#protocols/index.ts';
import type { EndpointContext } from '../context.ts';
import { requireTask, ownerOf, taskIdOf } from '../own-tasks.ts';
import { videoCall } from '../run-exchange.ts';
import { synthesisBases } from '../surfaces.ts';

const protocol = videoProtocols['video-synthesis'];
const submit = videoCall(protocol.name);

/** The first dialect of video tasks: submits, and looks at one task. */
export function videoSynthesisRoutes(context: EndpointContext) {
  return function videoSynthesis(scope: FastifyInstance, _options: object, done: () => void): void {
    context.authenticate(scope, { queryKey: false });
    const onRequest = [
      context.admit,
      context.countRates.generation,
      requireAsync,
      context.limitLargeBodies,
    ];
    const freeOptions = { onRequest: context.countRates.free };
    for (const base of synthesisBases) {
      scope.post(
        `${base}/services/aigc/video-generation/video-synthesis`,
        { onRequest },
        (request, reply) => context.run(request, reply, submit),
      );
      scope.get(`${base}/tasks/:id`, freeOptions, async (request, reply) => {
        const id = taskIdOf(request, protocol);
        const task = requireTask(await context.tasks.find(ownerOf(request, protocol.name), id));
        respondJson(request, reply, 200, protocol.encodeTask(task, request.id));
      });
    }
    done();
  };
}

/** Clients recognise the message. */
const notAsync = 'current user api does not support synchronous calls';

/** Without this header a client waits for a video in the response, which never comes. */
const requireAsync: onRequestHookHandler = ({ raw: { headers } }, _reply, done) => {
  const value = headers['x-dashscope-async'];
  const isAsync = typeof value === 'string' && value.trim().toLowerCase() === 'enable';
  done(isAsync ? undefined : new GatewayError('invalid_value', { values: { reason: notAsync } }));
};
