import { z } from 'zod';
import { defineRoute } from './route.ts';
import { count, money, nothing, text, time, timeFilter, tokens, units } from './values.ts';

const attempt = z.object({
  channel: z.string(),
  /** How far it got: `not-sent`, `uncertain`, `started` or `shown`. */
  class: z.string(),
  status: z.int().nullable(),
  /** `completed`, or a short word for the failure. */
  result: z.string(),
  started_at: time,
  duration_ms: z.number(),
  upstream_request_id: z.string().nullable(),
});

const row = z.object({
  /** The `x-request-id`. */
  id: z.string(),
  time,
  key: z.string(),
  key_id: z.string(),
  user: z.string(),
  team: z.string().nullable(),
  model: z.string(),
  upstream_model: z.string().nullable(),
  /** The one that answered. */
  channel: z.string().nullable(),
  protocol: z.string(),
  operation: z.string(),
  /** A family of clients such as `claude-code`; `other` for all that are not known. */
  client: z.string(),
  stream: z.boolean(),
  outcome: z.string(),
  status: z.int(),
  error: z.string().nullable(),
  attempts: z.array(attempt),
  tokens,
  units: units.nullable(),
  /** Null if nothing was charged. */
  cost: money.nullable(),
  estimated: z.boolean(),
  ttft_ms: z.number().nullable(),
  duration_ms: z.number(),
  rewrites: z.array(z.string()),
  losses: z.array(z.string()),
  /** The number of equal refusals that the row stands for. */
  count: z.int(),
});

const detail = row.extend({
  group: z.string(),
  /** Before the group's factor. */
  receipt: z.array(z.object({ part: z.string(), quantity: z.number(), price: money })).nullable(),
  multiplier: z.string().nullable(),
  price_version: z.string().nullable(),
  payer: z.string().nullable(),
  held: money.nullable(),
  overshoot: money.nullable(),
  /** `reported`, `estimated`, `quarantined` or `none`. */
  usage_source: z.string(),
  /** The ledger transaction. */
  transaction: z.string().nullable(),
});

export type UsageRowView = z.output<typeof row>;
export type UsageDetailView = z.output<typeof detail>;

const name = text(400);

/** Filters of requests; all must hold. */
const filters = {
  from: timeFilter.optional(),
  to: timeFilter.optional(),
  key: name.optional(),
  user: name.optional(),
  team: name.optional(),
  model: name.optional(),
  channel: name.optional(),
};

const exampleRow: z.input<typeof row> = {
  id: 'req_9d0mUwX2p0H6cYd3Wc4bT7aA',
  time: '2026-11-25T10:00:00.000Z',
  key: 'first',
  key_id: 'key_2a',
  user: 'admin@localhost',
  team: null,
  model: 'demo-chat',
  upstream_model: 'demo-chat',
  channel: 'demo',
  protocol: 'chat',
  operation: 'generate',
  client: 'other',
  stream: false,
  outcome: 'completed',
  status: 200,
  error: null,
  attempts: [
    {
      channel: 'demo',
      class: 'shown',
      status: 200,
      result: 'completed',
      started_at: '2026-11-25T10:00:00.001Z',
      duration_ms: 12,
      upstream_request_id: null,
    },
  ],
  tokens: { input: 9, cache_read: 0, cache_write: 0, cache_write_1h: 0, output: 12, reasoning: 0 },
  units: null,
  cost: '0.0000444',
  estimated: false,
  ttft_ms: null,
  duration_ms: 14,
  rewrites: [],
  losses: [],
  count: 1,
};

export const listUsage = defineRoute({
  method: 'GET',
  path: '/usage',
  summary: 'Requests, newest first',
  permission: 'own',
  parameters: nothing,
  query: z.strictObject({
    ...filters,
    protocol: name.optional(),
    outcome: name.optional(),
    /** A class such as `4xx`, or a number. */
    status: z
      .string()
      .regex(/^[1-5](xx|\d\d)$/, 'expected a class such as 4xx, or a status such as 429')
      .optional(),
    /** Leaves out what cost nothing. */
    min_cost: z
      .string()
      .regex(/^\d{1,9}(\.\d{1,9})?$/, 'expected an amount in USD such as 0.01')
      .optional(),
    min_ms: count(0, 999_999_999).optional(),
    limit: count(1, 200).optional(),
    cursor: name.optional(),
  }),
  body: nothing,
  response: z.object({ data: z.array(row), next: z.string().nullable() }),
  example: { data: [exampleRow], next: null },
});

export const readUsage = defineRoute({
  method: 'GET',
  path: '/usage/:id',
  summary: 'One request with its receipt',
  permission: 'own',
  parameters: z.strictObject({ id: text(100) }),
  query: nothing,
  body: nothing,
  response: detail,
  example: {
    ...exampleRow,
    group: 'default',
    receipt: [
      { part: 'input', quantity: 9, price: '0.0000002' },
      { part: 'output', quantity: 12, price: '0.0000008' },
    ],
    multiplier: '1',
    price_version: '3f0a1b2c4d5e6f70',
    payer: 'user',
    held: '0.0132',
    overshoot: '0',
    usage_source: 'reported',
    transaction: 'tx_5c',
  },
});

const sum = z.object({
  /** An hour such as `2026-11-25T10:00Z`, a day such as `2026-11-25`, or a name. */
  name: z.string(),
  requests: z.int(),
  failed: z.int(),
  tokens,
  images: z.int(),
  video_ms: z.int(),
  video_tokens: z.int(),
  cost: money,
});

export const sumUsage = defineRoute({
  method: 'GET',
  path: '/usage/sums',
  summary: 'Sums over whole hours',
  permission: 'own',
  parameters: nothing,
  query: z.strictObject({
    ...filters,
    by: z.enum(['hour', 'day', 'model', 'channel', 'key', 'user', 'team']),
  }),
  body: nothing,
  response: z.object({
    /** The range that was summed: whole hours around the one that was asked for. */
    from: time,
    to: time,
    cost: money,
    requests: z.int(),
    failed: z.int(),
    data: z.array(sum),
  }),
  example: {
    from: '2026-11-25T00:00:00.000Z',
    to: '2026-11-26T00:00:00.000Z',
    cost: '0.0000444',
    requests: 1,
    failed: 0,
    data: [
      {
        name: 'demo-chat',
        requests: 1,
        failed: 0,
        tokens: exampleRow.tokens,
        images: 0,
        video_ms: 0,
        video_tokens: 0,
        cost: '0.0000444',
      },
    ],
  },
});
