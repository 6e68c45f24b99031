import { z } from 'zod';
import { defineRoute } from './route.ts';
import { money, ranged, text, time } from './values.ts';
import { exampleSums, percentiles, sums, timeZone } from './usage.ts';

const period = sums.extend({
  from: time,
  to: time,
  first_token_ms: percentiles,
});

const attention = z.object({
  /** What is wrong; the console has a sentence for each. */
  kind: z.enum([
    'channel_failing',
    'channel_unsteady',
    'channel_resting',
    'price_missing',
    'budget_high',
    'key_expiring',
    'key_exhausted',
    'journal_growing',
    'journal_full',
    'node_version',
  ]),
  severity: z.enum(['failed', 'warning']),
  /** What it is about; null: the gateway itself. */
  object: z
    .object({ kind: z.enum(['channel', 'model', 'team', 'key', 'node']), name: text(400) })
    .nullable(),
  /** When it began, or when it will happen; null: not known. */
  since: time.nullable(),
  /** Of a budget. */
  spent: money.optional(),
  limit: money.optional(),
  window: z.enum(['daily', 'monthly', 'total']).optional(),
  /** Failed attempts, records that wait, or nodes. */
  count: z.int().optional(),
  /** Of so many nodes. */
  of: z.int().optional(),
  /** Of the node, and of the one that responds. */
  versions: z.array(z.string()).optional(),
  /** The word of a channel's last failure. */
  error: z.string().optional(),
});
export type AttentionView = z.output<typeof attention>;

export const readOverview = defineRoute({
  method: 'GET',
  path: '/overview',
  summary: 'Totals of a range and of the one before, and what needs attention',
  permission: 'own',
  query: ranged({
    tz: timeZone.optional(),
  }),
  response: z.object({
    now: period,
    before: period,
    /** Whether every answer is made up: all enabled channels lead to simulators. */
    simulated: z.boolean(),
    attention: z.array(attention),
  }),
  example: {
    now: {
      from: '2026-11-25T00:00:00.000Z',
      to: '2026-11-26T00:00:00.000Z',
      ...exampleSums,
      first_token_ms: { p50: 420, p95: 1_900, p99: 3_100 },
    },
    before: {
      from: '2026-11-24T00:00:00.000Z',
      to: '2026-11-25T00:00:00.000Z',
      ...exampleSums,
      first_token_ms: null,
    },
    simulated: false,
    attention: [
      {
        kind: 'channel_failing',
        severity: 'failed',
        object: { kind: 'channel', name: 'azure-eu' },
        since: '2026-11-25T08:14:00.000Z',
        count: 612,
        error: 'model-missing',
      },
    ],
  },
});
