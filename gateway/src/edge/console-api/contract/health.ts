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
