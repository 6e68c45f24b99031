import { z } from 'zod';
import { isTimeZone } from '#config/index.ts';
import { nameDimensions } from '#usage/index.ts';
import { defineRoute } from './route.ts';
import { blame, count, money, ranged, text, time, tokens, units } from './values.ts';

const attempt = z.object({
  channel: z.string(),
  /** How far it got: `not-sent`, `uncertain`, `started` or `shown`. */
  class: z.string(),
  status: z.int().nullable(),
  /** `completed`, or a short word for the failure. */
  result: z.string(),
  /** What is to blame for a failure; absent: nothing failed, or whatever failed says nothing about the channel. */
  blame: blame.optional(),
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
  /** Counters in the upstream's usage that nothing reads, by the paths of their members. */
  usage_unread: z.array(z.string()),
  /** Null if nothing was charged. */
  cost: money.nullable(),
  estimated: z.boolean(),
  /** The upstream's counts were implausible, so at most the hold was charged. */
  quarantined: z.boolean(),
  ttft_ms: z.number().nullable(),
  duration_ms: z.number(),
  rewrites: z.array(z.string()),
  losses: z.array(z.string()),
  /** The number of equal refusals that the row stands for. */
  count: z.int(),
});

/** Why a channel was not asked. */
const passedOver = z.enum([
  'ejected',
  'credential-refused',
  'rate-limited',
  'overloaded',
  'model-missing',
  'retry-budget',
  'no-time',
  'unable',
  'not-reached',
]);

const detail = row.extend({
  /** The message that the client got; null: none is kept, or it is the business of others. */
  message: z.string().nullable(),
  attempts: z.array(
    attempt.extend({
      /** The upstream's words about its failure, cleaned; null: none are kept, or the role may not read them. */
      words: z.string().nullable(),
    }),
  ),
  group: z.string(),
  /** Before the group's factor. */
  receipt: z.array(z.object({ part: z.string(), quantity: z.number(), price: money })).nullable(),
  /** Of a token that is read from a cache or written to one, had it been input; null without such tokens. */
  input_price: money.nullable(),
  multiplier: z.string().nullable(),
  price_version: z.string().nullable(),
  payer: z.string().nullable(),
  held: money.nullable(),
  overshoot: money.nullable(),
  /** What was charged without a lease; usually absent. */
  late: money.optional(),
  /** `reported`, `estimated`, `quarantined` or `none`. */
  usage_source: z.string(),
  /** The ledger transaction. */
  transaction: z.string().nullable(),
  /** Channels that could have served it and were not asked. */
  route: z.array(z.object({ channel: z.string(), reason: passedOver })),
  losses: z.array(
    z.object({ name: z.string(), how: z.enum(['dropped', 'approximated']), text: z.string() }),
  ),
});

export type UsageRowView = z.output<typeof row>;
export type UsageDetailView = z.output<typeof detail>;

const name = text(400);

/** Filters by the names that sums have; all must hold. A trailing `*` stands for any end of a name. */
const nameFilters = {
  /** A line such as `model:claude* -key:ci`, as in the console's field; it holds beside the others. */
  filter: text(2_000).optional(),
  key: name.optional(),
  user: name.optional(),
  team: name.optional(),
  model: name.optional(),
  channel: name.optional(),
  /** A family of clients such as `claude-code`. */
  client: name.optional(),
};

/** Filters of requests; all must hold. */
const filters = {
  ...nameFilters,
  /** A channel that was asked, whether or not it responded. */
  tried: name.optional(),
  /** The word of what went wrong: the client's error, or that of an attempt. */
  error: name.optional(),
  protocol: name.optional(),
  operation: name.optional(),
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
  /** Whether an upstream was asked: sums of a model leave out the requests that were refused before. */
  asked: z.enum(['yes', 'no'], { error: 'expected yes or no' }).optional(),
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
  usage_unread: [],
  cost: '0.0000444',
  estimated: false,
  quarantined: false,
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
  query: ranged({
    ...filters,
    limit: count(1, 200).optional(),
    cursor: name.optional(),
  }),
  response: z.object({ data: z.array(row), next: z.string().nullable() }),
  example: { data: [exampleRow], next: null },
});

export const readUsage = defineRoute({
  method: 'GET',
  path: '/usage/:id',
  summary: 'One request with its receipt',
  permission: 'own',
  parameters: z.strictObject({ id: text(100) }),
  response: detail,
  example: {
    ...exampleRow,
    message: null,
    attempts: exampleRow.attempts.map((each) => ({ ...each, words: null })),
    group: 'default',
    receipt: [
      { part: 'input', quantity: 9, price: '0.0000002' },
      { part: 'output', quantity: 12, price: '0.0000008' },
    ],
    input_price: null,
    multiplier: '1',
    price_version: '3f0a1b2c4d5e6f70',
    payer: 'user',
    held: '0.0132',
    overshoot: '0',
    usage_source: 'reported',
    transaction: 'tx_5c',
    route: [{ channel: 'spare', reason: 'not-reached' }],
    losses: [{ name: 'seed', how: 'dropped', text: 'the seed of the sampling: left out' }],
  },
});

export const sums = z.object({
  requests: z.int(),
  /** How many of them failed or were refused. */
  failed: z.int(),
  /** How many of them were refused. */
  refused: z.int(),
  tokens,
  images: z.int(),
  video_ms: z.int(),
  video_tokens: z.int(),
  cost: money,
  /** Attempts at channels, whichever responded in the end. */
  attempts: z.int(),
  /** How many of them failed. */
  failed_attempts: z.int(),
});

const groupNames = {
  /** An hour such as `2026-11-25T10:00Z`, a day such as `2026-11-25`, a month or a name; null: all the others. */
  name: z.string().nullable(),
  /** The same by the second dimension, if there are two. */
  second: z.string().nullable().optional(),
};
const sum = sums.extend(groupNames);

export const exampleSums: z.input<typeof sums> = {
  requests: 1,
  failed: 0,
  refused: 0,
  tokens: exampleRow.tokens,
  images: 0,
  video_ms: 0,
  video_tokens: 0,
  cost: '0.0000444',
  attempts: 1,
  failed_attempts: 0,
};

/** The range that was summed: the one that was asked for, but an end that is still to come is that of its hour. */
const summedRange = { from: time, to: time };
const exampleRange = { from: '2026-11-25T00:00:00.000Z', to: '2026-11-26T00:00:00.000Z' };

export const timeZone = text(64).refine(isTimeZone, 'expected a time zone such as Europe/Berlin');

const times = ['hour', 'day', 'month'] as const;

/** One or two dimensions, of which at most one cuts the time. */
const dimensions = <const Name extends string>(names: readonly Name[]) => {
  const expected = `expected one or two of ${[...names, ...times].join(', ')}`;
  return z
    .string()
    .transform((list) => list.split(','))
    .pipe(
      z
        .array(z.enum([...names, ...times], { error: expected }))
        .max(2, expected)
        .refine(
          (list) =>
            new Set(list.map((each) => (times.some((time) => time === each) ? 'time' : each)))
              .size === list.length,
          'expected two different ones, at most one of them a time',
        ),
    );
};

/** How a reading is split. */
const cuts = {
  /** How many names stand for themselves; all others are one. */
  first: count(1, 200).optional(),
  /** In which days and months begin. */
  tz: timeZone.optional(),
};
const splitRange = {
  ...summedRange,
  /** For each dimension: how many names are among the others. */
  others: z.array(z.int()),
  /** The hours, days or months of the range, also those without requests. */
  buckets: z.array(z.object({ name: z.string(), from: time, to: time })).nullable(),
};

export const sumUsage = defineRoute({
  method: 'GET',
  path: '/usage/sums',
  summary: 'Sums over a range, by one or two dimensions',
  permission: 'own',
  query: ranged({
    ...nameFilters,
    by: dimensions(nameDimensions),
    /** What names are ordered by, the highest first. */
    metric: z
      .enum(['cost', 'requests', 'failed', 'refused', 'tokens', 'input', 'output'])
      .optional(),
    ...cuts,
  }),
  response: sums.extend({ ...splitRange, data: z.array(sum) }),
  example: {
    ...exampleRange,
    ...exampleSums,
    others: [0],
    buckets: null,
    data: [{ name: 'demo-chat', ...exampleSums }],
  },
});

export const readHistogram = defineRoute({
  method: 'GET',
  path: '/usage/histogram',
  summary: 'Requests over time by status, and what they cost together',
  permission: 'own',
  query: ranged(filters),
  response: z.object({
    from: time,
    to: time,
    /** The length of each bar. */
    seconds: z.int(),
    requests: z.int(),
    failed: z.int(),
    refused: z.int(),
    cost: money,
    data: z.array(
      z.object({
        time,
        requests: z.int(),
        '2xx': z.int(),
        '4xx': z.int(),
        '5xx': z.int(),
      }),
    ),
  }),
  example: {
    ...exampleRange,
    seconds: 86_400,
    requests: 1,
    failed: 0,
    refused: 0,
    cost: '0.0000444',
    data: [{ time: exampleRange.from, requests: 1, '2xx': 1, '4xx': 0, '5xx': 0 }],
  },
});

export const percentiles = z.object({ p50: z.int(), p95: z.int(), p99: z.int() }).nullable();

export const readLatency = defineRoute({
  method: 'GET',
  path: '/usage/latency',
  summary:
    'How long completed requests took, within 5 %. By persons or clients, of at most 200,000 requests',
  permission: 'own',
  query: ranged({
    ...nameFilters,
    /** Absent: all requests together. */
    by: dimensions(nameDimensions).optional(),
    ...cuts,
  }),
  response: z.object({
    ...splitRange,
    data: z.array(
      z.object({
        ...groupNames,
        requests: z.int(),
        first_token_ms: percentiles,
        duration_ms: percentiles,
      }),
    ),
  }),
  example: {
    ...exampleRange,
    others: [0],
    buckets: null,
    data: [
      {
        name: 'demo-chat',
        requests: 1,
        first_token_ms: null,
        duration_ms: { p50: 14, p95: 14, p99: 14 },
      },
    ],
  },
});

const facet = z.array(z.object({ value: z.string(), count: z.int() }));

export const readFacets = defineRoute({
  method: 'GET',
  path: '/usage/facets',
  summary: 'Values to filter by, and how many requests of the range have them',
  permission: 'own',
  query: ranged({
    ...nameFilters,
    /** Names that begin so. */
    q: text(64).optional(),
    limit: count(1, 200).optional(),
  }),
  response: z.object({
    model: facet,
    channel: facet,
    key: facet,
    user: facet,
    team: facet,
    client: facet,
    protocol: facet,
    operation: facet,
    outcome: facet,
    status: facet,
  }),
  example: {
    model: [{ value: 'demo-chat', count: 1 }],
    channel: [{ value: 'demo', count: 1 }],
    key: [{ value: 'first', count: 1 }],
    user: [{ value: 'admin@localhost', count: 1 }],
    team: [],
    client: [{ value: 'other', count: 1 }],
    protocol: [{ value: 'chat', count: 1 }],
    operation: [{ value: 'generate', count: 1 }],
    outcome: [{ value: 'completed', count: 1 }],
    status: [{ value: '200', count: 1 }],
  },
});

export const exportUsage = defineRoute({
  method: 'GET',
  path: '/usage/export',
  summary: 'All requests that a filter leaves, newest first, as a file',
  permission: 'own',
  query: ranged({
    ...filters,
    format: z.enum(['csv', 'jsonl'], { error: 'expected csv or jsonl' }),
  }),
  response: z.string(),
  example: '{"id":"req_9d0mUwX2p0H6cYd3Wc4bT7aA"}\n',
});

/** A line of an export as JSON. */
export const exportedRow = row;

/** A request that goes to its upstreams, as an event tells of it. */
export const startedRequest = row
  .pick({
    id: true,
    time: true,
    key: true,
    key_id: true,
    user: true,
    team: true,
    model: true,
    protocol: true,
    operation: true,
    client: true,
    stream: true,
  })
  .extend({
    node: z.string().nullable().describe('The process; null: the one that sends the event'),
  });

export const watchUsage = defineRoute({
  method: 'GET',
  path: '/usage/live',
  summary: 'Requests as they start and end, as server-sent events',
  permission: 'own',
  query: z.strictObject(filters),
  response: z.string(),
  example: 'event: dropped\ndata: {"count":3}\n\n',
});
