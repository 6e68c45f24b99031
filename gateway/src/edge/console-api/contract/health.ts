import { z } from 'zod';
import { defineRoute } from './route.ts';
import { channelStates } from './channels.ts';
import { time } from './values.ts';

const counts = z.object({ ready: z.int(), cooling: z.int(), disabled: z.int() });

/** How a process is, as it says with each sign of life. What another version adds is left out. */
export const nodeState = z.object({
  version: z.string(),
  /** The name of its machine. */
  host: z.string(),
  /** Null: it is the only process of its node. */
  worker: z.object({ of: z.string(), number: z.int() }).nullable(),
  /** Requests. */
  under_way: z.int(),
  /** Of the event loop. */
  lag_ms: z.number(),
  /** Bytes. */
  memory: z.object({ rss: z.number(), heap: z.number() }),
  journal: z.object({
    usable: z.boolean(),
    /** Records that are not in the database yet. */
    depth: z.int(),
  }),
  /** What is not as it should be in this process, in the words of `/ready`. */
  degraded: z.array(z.string()),
  /** The channels that it does not use with all of their credentials. */
  channels: z.object({
    count: z.int(),
    /** The first of them, by name. */
    first: z.array(
      z.object({
        name: z.string(),
        state: z.enum(channelStates),
        credentials: counts,
        rest_ms: z.number(),
      }),
    ),
  }),
});
export type NodeState = z.output<typeof nodeState>;

export const readHealth = defineRoute({
  method: 'GET',
  path: '/health',
  summary: 'How the gateway is',
  permission: 'health.read',
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
          /** Null: it has just started, has ended, or its version does not say. */
          state: nodeState.nullable(),
        }),
      )
      .nullable(),
    /** Channels that live nodes rest, of those that say: at least on so many. */
    resting: z.array(z.object({ channel: z.string(), nodes: z.int(), of: z.int() })),
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
        state: {
          version: '0.1.0',
          host: 'gw-1',
          worker: null,
          under_way: 14,
          lag_ms: 3,
          memory: { rss: 212_000_000, heap: 96_000_000 },
          journal: { usable: true, depth: 0 },
          degraded: [],
          channels: {
            count: 1,
            first: [
              {
                name: 'azure-eu',
                state: 'rests',
                credentials: { ready: 1, cooling: 0, disabled: 0 },
                rest_ms: 41_000,
              },
            ],
          },
        },
      },
    ],
    resting: [{ channel: 'azure-eu', nodes: 1, of: 1 }],
  },
});
