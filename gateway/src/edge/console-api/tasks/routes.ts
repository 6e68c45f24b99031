import type { FastifyInstance } from 'fastify';
import { countTasks, findTask, listTasks } from '#tasks/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { scopeOf } from '../usage/filter.ts';

export interface TaskRoutesOptions extends ServeOptions {
  readonly reads: Reads;
}

const defaultLimit = 50;

/** Video tasks, of the same people whose requests the caller sees. */
export function taskRoutes(scope: FastifyInstance, options: TaskRoutesOptions): void {
  const { reads } = options;

  serveRoute(scope, contract.listTasks, options, async ({ query, caller }) => {
    const { kind, user, model, limit = defaultLimit, cursor } = query;
    const names = { ...(user !== undefined && { user }), ...(model !== undefined && { model }) };
    const after = cursor === undefined ? {} : { after: readCursor(cursor) };
    const { counts, found } = await reads(async (db) => {
      const filter = { ...names, ...(await scopeOf(db, caller)) };
      const ofKind = kind === undefined ? {} : { kind };
      return {
        counts: await countTasks(db, filter),
        found: await listTasks(db, { ...filter, ...ofKind, ...after, limit: limit + 1 }),
      };
    });
    const data = found.data.slice(0, limit);
    const last = found.data.length > limit ? data.at(-1) : undefined;
    return {
      body: {
        counts,
        data: [...data],
        next: last === undefined ? null : `${Date.parse(last.time)}_${last.id}`,
      },
    };
  });

  serveRoute(scope, contract.readTask, options, async ({ parameters, caller }) => {
    const task = await reads(async (db) => findTask(db, parameters.id, await scopeOf(db, caller)));
    if (task === null) throw new ApiError('not_found', 'there is no such task');
    return {
      body: {
        ...task,
        // The vendor knows the task by it, so it is the business of whoever talks with the vendor.
        upstream_id: caller.permissions.includes('errors.read') ? task.upstream_id : null,
        attempts: task.attempts.map(({ channel, status, result, startedAt, durationMs }) => ({
          channel,
          status,
          result,
          started_at: new Date(startedAt).toISOString(),
          duration_ms: durationMs,
        })),
      },
    };
  });
}

/** @throws ApiError `invalid` */
function readCursor(cursor: string): { readonly createdAt: number; readonly id: string } {
  const [, createdAt, id] = /^(\d{1,15})_(.+)$/.exec(cursor) ?? [];
  if (createdAt === undefined || id === undefined) {
    const message = 'expected the next of a page before';
    throw new ApiError('invalid', `cursor: ${message}`, { fields: [{ path: 'cursor', message }] });
  }
  return { createdAt: Number(createdAt), id };
}
