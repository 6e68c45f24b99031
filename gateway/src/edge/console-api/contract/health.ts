import { z } from 'zod';
import { defineRoute } from './route.ts';
import { blame, nothing, time } from './values.ts';

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

/** What the attempts of all nodes say about a channel. */
export const verdicts = ['answers', 'unsteady', 'fails', 'unasked'] as const;

export const listChannels = defineRoute({
  method: 'GET',
  path: '/channels',
  summary: 'The enabled channels: what became of their attempts, and how this process uses them',
  permission: 'health.read',
  parameters: nothing,
  query: nothing,
  body: nothing,
  response: z.object({
    data: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        provider: z.string(),
        protocols: z.array(z.string()),
        groups: z.array(z.string()),
        priority: z.int(),
        /**
         * In this process: `works`; `rests`: others are preferred, because it has failed; `tries`: one request at a time shows whether it
         * works again; `waits`: the upstream asked for a pause; `refused`: the upstream refuses every credential.
         */
        state: z.enum(['works', 'rests', 'tries', 'waits', 'refused']),
        credentials: z.object({ ready: z.int(), cooling: z.int(), disabled: z.int() }),
        /**
         * By the attempts of all nodes: `answers`; `unsteady`: a tenth or more of those of the last hours failed;
         * `fails`: it has failed since `failing.since`; `unasked`: there were no attempts in the last 24 hours.
         */
        verdict: z.enum(verdicts),
        /** The last 24 hours of all nodes, over its attempts; null: there were none. */
        recent: z
          .object({
            attempts: z.int(),
            failed: z.int(),
            success: z.number(),
            /** The share of each hour that succeeded. */
            hours: z.array(z.number().nullable()),
            /** The mean of its attempts that streamed. */
            first_token_ms: z.number().nullable(),
            /** Failures by their word, the most frequent first. */
            errors: z.array(z.object({ error: z.string(), attempts: z.int() })),
            answered_at: time.nullable(),
            /** The failures since it last answered; null: there are none. */
            failing: z.object({ since: time, attempts: z.int() }).nullable(),
            last_failure: z
              .object({
                request: z.string(),
                time,
                error: z.string(),
                blame,
                status: z.int().nullable(),
                /** The upstream's words, cleaned; null: none are kept, or the role may not read them. */
                words: z.string().nullable(),
              })
              .nullable(),
          })
          .nullable(),
      }),
    ),
  }),
  example: {
    data: [
      {
        id: 'ch_1f',
        name: 'demo',
        provider: 'simulator',
        protocols: ['chat', 'messages'],
        groups: ['default'],
        priority: 0,
        state: 'works',
        credentials: { ready: 1, cooling: 0, disabled: 0 },
        verdict: 'answers',
        recent: {
          attempts: 1_204,
          failed: 2,
          success: 0.998,
          hours: [...Array.from({ length: 23 }, () => null), 0.998],
          first_token_ms: 420,
          errors: [{ error: 'overloaded', attempts: 2 }],
          answered_at: '2026-11-25T10:00:00.000Z',
          failing: null,
          last_failure: {
            request: 'req_9d0mUwX2p0H6cYd3Wc4bT7aA',
            time: '2026-11-25T09:12:04.000Z',
            error: 'overloaded',
            blame: 'channel',
            status: 503,
            words: 'queue is full',
          },
        },
      },
    ],
  },
});
