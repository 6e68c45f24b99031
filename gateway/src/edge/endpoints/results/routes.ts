import { pipeline } from 'node:stream/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '#errors/index.ts';
import { ownHeaders, respond } from '#http/index.ts';
import type { FoundResult } from '#tasks/index.ts';
import type { OwnTasks } from '../context.ts';
import { readRange } from './byte-range.ts';

/** `GET /v1/results/{task}/{name}`: copies of videos, for everyone who has the signed link. */
export function resultsRoute(tasks: Pick<OwnTasks, 'findResult'>) {
  return function results(scope: FastifyInstance, _options: object, done: () => void): void {
    scope.get(
      '/v1/results/:task/:name',
      { config: { isUnlisted: true } },
      async (request, reply) => {
        const { task, name } = request.params as { readonly task: string; readonly name: string };
        const query = request.query as Readonly<Record<string, unknown>>;
        const [expires, signature] = [String(query['expires']), String(query['signature'])];
        const copy = await tasks
          .findResult({ task, name, expires, signature })
          .catch((cause: unknown) => {
            throw new GatewayError('unavailable', { cause });
          });
        if (copy === null) throw new GatewayError('not_found');
        if (copy === 'expired') {
          throw new GatewayError('not_found_hint', { values: { hint: 'the link has expired' } });
        }
        await send(request, reply, copy, `"${task}-${name}"`);
      },
    );
    done();
  };
}

/** @param tag a copy never changes */
async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { size, type, read }: FoundResult,
  tag: string,
): Promise<void> {
  const { range, 'if-range': condition } = request.headers;
  const isSame = condition === undefined || condition === tag;
  const requestedRange = request.method === 'GET' && isSame ? readRange(range, size) : null;
  if (requestedRange === 'unsatisfiable') {
    respond(request, reply, 416, 'text/plain', '', ['content-range', `bytes */${size}`]);
    return;
  }
  const { from, to } = requestedRange ?? { from: 0, to: size - 1 };
  const body =
    request.method === 'HEAD' || size === 0
      ? null
      : await read(from, to).catch((cause: unknown) => {
          throw new GatewayError('unavailable', { cause });
        });
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(requestedRange === null ? 200 : 206, [
    ...ownHeaders(request),
    'content-type',
    type,
    'content-length',
    String(to - from + 1),
    'accept-ranges',
    'bytes',
    'etag',
    tag,
    'cache-control',
    'private, max-age=86400, immutable',
    // Whatever a vendor sends is no page of this host.
    'content-security-policy',
    'sandbox',
    'x-content-type-options',
    'nosniff',
    ...(requestedRange === null ? [] : ['content-range', `bytes ${from}-${to}/${size}`]),
    ...(scopeOf(request).isDraining() ? ['connection', 'close'] : []),
  ]);
  if (body === null) {
    raw.end();
    return;
  }
  raw.setTimeout(scopeOf(request).writeStall, () => raw.destroy());
  // A client that leaves, or a store that fails in the middle, ends the response early.
  await pipeline(body, raw).catch(() => raw.destroy());
}

const scopeOf = ({ server }: FastifyRequest): FastifyInstance => server;
