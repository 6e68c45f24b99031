import { z } from 'zod';
import { defineRoute } from './route.ts';
import { count, money, text, time } from './values.ts';

const task = z.object({
  id: z.string(),
  /** The `x-request-id` of the submit, and of its receipt once it has ended. */
  request: z.string(),
  time,
  user: z.string(),
  team: z.string().nullable(),
  key: z.string(),
  model: z.string(),
  /** `submitting`, `queued`, `running`, `succeeded`, `failed` or `expired`. */
  state: z.string(),
  /** Null: no upstream has accepted it. */
  channel: z.string().nullable(),
  /** While it is open; null: it is free. */
  held: money.nullable(),
  /** What was charged at its end; null: nothing. */
  cost: money.nullable(),
  /** Of a second or a token, fixed when the task was made; null: it is free. */
  price: z.object({ part: z.string(), price: money }).nullable(),
  /** The last look that was answered. */
  looked: time.nullable(),
  /** Looks that failed since. */
  failed_looks: z.int(),
  ended: time.nullable(),
  /** Milliseconds or tokens that were made after it had expired, for which the operator pays. */
  lost: z.number().nullable(),
});

const detail = task.extend({
  protocol: z.string(),
  group: z.string(),
  /** The group's factor on the price. */
  multiplier: z.string().nullable(),
  payer: z.enum(['user', 'team']).nullable(),
  demand: z.object({ resolution: z.string(), seconds: z.int(), with_video: z.boolean() }),
  attempts: z.array(
    z.object({
      channel: z.string(),
      status: z.int().nullable(),
      /** `completed`, or a short word for the failure. */
      result: z.string(),
      started_at: time,
      duration_ms: z.number(),
    }),
  ),
  upstream_model: z.string().nullable(),
  /** For the vendor's support; null: none has accepted it, or the role may not see it. */
  upstream_id: z.string().nullable(),
  accepted: time.nullable(),
  /** The last change that its owner could see. */
  updated: time,
  /** Looks after it had expired. */
  late_looks: z.int(),
  /** `failed`, `cancelled` or `expired`, with the vendor's code. */
  failure: z.object({ kind: z.string(), code: z.string().nullable() }).nullable(),
  /** What was charged for, in milliseconds or tokens. */
  quantity: z.number().nullable(),
});

const exampleTask: z.input<typeof task> = {
  id: 'task_8Kq2',
  request: 'req_9d0mUwX2p0H6cYd3Wc4bT7aA',
  time: '2026-11-25T10:00:00.000Z',
  user: 'admin@localhost',
  team: null,
  key: 'first',
  model: 'demo-video-1',
  state: 'running',
  channel: 'demo',
  held: '0.5',
  cost: null,
  price: { part: 'video_second.720p', price: '0.1' },
  looked: '2026-11-25T10:00:20.000Z',
  failed_looks: 0,
  ended: null,
  lost: null,
};

const name = text(400);

export const listTasks = defineRoute({
  method: 'GET',
  path: '/tasks',
  summary: 'Video tasks, newest first, until seven days after their end',
  permission: 'own',
  query: z.strictObject({
    /** `lost`: made after they had expired. */
    kind: z.enum(['open', 'ended', 'lost'], { error: 'expected open, ended or lost' }).optional(),
    /** An e-mail address or an id. */
    user: name.optional(),
    /** As clients wrote it. */
    model: name.optional(),
    limit: count(1, 200).optional(),
    cursor: name.optional(),
  }),
  response: z.object({
    /** How many of each kind there are, whichever is listed. */
    counts: z.object({ open: z.int(), ended: z.int(), lost: z.int() }),
    data: z.array(task),
    next: z.string().nullable(),
  }),
  example: { counts: { open: 1, ended: 0, lost: 0 }, data: [exampleTask], next: null },
});

export const readTask = defineRoute({
  method: 'GET',
  path: '/tasks/:id',
  summary: 'One video task with its course',
  permission: 'own',
  parameters: z.strictObject({ id: text(200) }),
  response: detail,
  example: {
    ...exampleTask,
    protocol: 'video-synthesis',
    group: 'default',
    multiplier: '1',
    payer: 'user',
    demand: { resolution: '720p', seconds: 5, with_video: false },
    attempts: [
      {
        channel: 'demo',
        status: 200,
        result: 'completed',
        started_at: '2026-11-25T10:00:00.010Z',
        duration_ms: 90,
      },
    ],
    upstream_model: 'demo-video-1',
    upstream_id: 'up-1',
    accepted: '2026-11-25T10:00:00.100Z',
    updated: '2026-11-25T10:00:10.000Z',
    late_looks: 0,
    failure: null,
    quantity: null,
  },
});
