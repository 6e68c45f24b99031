import { z } from 'zod';
import { defineRoute } from './route.ts';
import { nothing, time } from './values.ts';

export const readHealth = defineRoute({
  method: 'GET',
  path: '/health',
  summary: 'How the gateway is',
  permission: 'health.read',
  parameters: nothing,
  query: nothing,
  body: nothing,
  response: z.object({
    /** `unavailable`: nothing that costs something is admitted. */
    status: z.enum(['ok', 'unavailable']),
    version: z.string(),
    /** When this process began. */
    started: time,
    /** What is not as it should be, in the words of `/ready`. */
    degraded: z.array(z.string()),
    database: z.object({
      kind: z.enum(['sqlite', 'postgres']),
      state: z.enum(['works', 'read-only', 'away']),
    }),
    /** Null: rates are counted in memory. */
    redis: z
      .object({
        state: z.enum(['works', 'away']),
        eviction: z.string(),
        persistence: z.string(),
      })
      .nullable(),
    journal: z.object({
      usable: z.boolean(),
      /** Records of this process that are not in the database yet. */
      depth: z.int(),
    }),
    /** Null: the database does not say. */
    nodes: z
      .array(
        z.object({
          id: z.string(),
          current: z.boolean(),
          live: z.boolean(),
          started: time,
          /** Of its last sign. */
          silent_ms: z.number(),
          journal: z.int(),
        }),
      )
      .nullable(),
  }),
  example: {
    status: 'ok',
    version: '0.1.0',
    started: '2026-11-25T08:00:00.000Z',
    degraded: [],
    database: { kind: 'postgres', state: 'works' },
    redis: { state: 'works', eviction: 'noeviction', persistence: 'append-only' },
    journal: { usable: true, depth: 0 },
    nodes: [
      {
        id: 'node_1f',
        current: true,
        live: true,
        started: '2026-11-25T08:00:00.000Z',
        silent_ms: 4_200,
        journal: 0,
      },
    ],
  },
});

export const listChannels = defineRoute({
  method: 'GET',
  path: '/channels',
  summary: 'The enabled channels, as this process sees them',
  permission: 'health.read',
  parameters: nothing,
  query: nothing,
  body: nothing,
  response: z.object({
    data: z.array(
      z.object({
        name: z.string(),
        provider: z.string(),
        protocols: z.array(z.string()),
        groups: z.array(z.string()),
        priority: z.int(),
        /**
         * `works`; `rests`: others are preferred, because it has failed; `tries`: one request at a time shows whether it
         * works again; `waits`: the upstream asked for a pause; `refused`: the upstream refuses every credential.
         */
        state: z.enum(['works', 'rests', 'tries', 'waits', 'refused']),
        credentials: z.object({ ready: z.int(), cooling: z.int(), disabled: z.int() }),
        /** The last 24 hours of all nodes, over the requests that it responded to; null: there were none. */
        recent: z
          .object({
            requests: z.int(),
            success: z.number(),
            hours: z.array(z.number().nullable()),
            first_token_ms: z.number().nullable(),
          })
          .nullable(),
      }),
    ),
  }),
  example: {
    data: [
      {
        name: 'demo',
        provider: 'simulator',
        protocols: ['chat', 'messages'],
        groups: ['default'],
        priority: 0,
        state: 'works',
        credentials: { ready: 1, cooling: 0, disabled: 0 },
        recent: {
          requests: 1_204,
          success: 0.998,
          hours: [...Array.from({ length: 23 }, () => null), 0.998],
          first_token_ms: 420,
        },
      },
    ],
  },
});
