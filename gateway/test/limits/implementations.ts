import { randomBytes } from 'node:crypto';
import { createClient } from '@redis/client';
import { expect } from 'vitest';
import { createMemoryCounters } from '#limits/index.ts';
import { createRedisCounters } from '#limits/redis/redis-counters.ts';
import type { Counters } from '#limits/index.ts';

export const redisUrl = process.env.SLUICE_TEST_REDIS ?? 'redis://127.0.0.1:6379';

export const redisAnswers = await answers();
if (!redisAnswers && process.env.CI !== undefined) {
  throw new Error(`no Redis at ${redisUrl}, which this run requires`);
}

/** For `describe.each`: everything that counts. Redis is skipped, visibly, when it is unreachable. */
export const implementations = ['memory', 'redis'] as const;
export type Implementation = (typeof implementations)[number];
export const isSkipped = (kind: Implementation) => kind === 'redis' && !redisAnswers;

export class TestClock {
  /** Unix milliseconds, of the nodes and of Redis. */
  wall = 1_800_000_000_000;
  /** Milliseconds. */
  monotonic = 5_000_000;

  advance(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }
}

export interface CountingBench {
  /** One node. */
  readonly counters: Counters;
  readonly clock: TestClock;
  /** What the database says was spent. */
  readonly spent: Map<string, bigint>;
  /** Meters the database was asked of. */
  readonly asked: string[];
  readonly database: { isAway: boolean };
  /** Redis forgets everything. */
  empty(): Promise<void>;
  /** Another node on the same Redis. */
  another(): Promise<Counters>;
  close(): Promise<void>;
}

/** Counters that know nothing yet, on a clock of their own. */
export async function openBench(kind: Implementation): Promise<CountingBench> {
  const clock = new TestClock();
  const spent = new Map<string, bigint>();
  const asked: string[] = [];
  const database = { isAway: false };
  const prefix = `test-${randomBytes(6).toString('hex')}:`;
  const opened: Counters[] = [];

  const open = async (): Promise<Counters> => {
    const options = {
      now: () => clock.wall,
      monotonic: () => clock.monotonic,
      spent: async (meters: readonly string[]) => {
        asked.push(...meters);
        if (database.isAway) throw new Error('no database');
        return new Map(spent);
      },
    };
    const counters =
      kind === 'memory'
        ? createMemoryCounters(options)
        : await createRedisCounters({
            ...options,
            url: redisUrl,
            prefix,
            random: () => 0.5,
            liveNodes: () => 1,
            log: { info: () => {}, error: () => {} },
            serverTime: () => clock.wall * 1_000,
            commandTimeoutMs: 10_000,
          });
    opened.push(counters);
    return counters;
  };

  return {
    counters: await open(),
    clock,
    spent,
    asked,
    database,
    empty: () => removeKeys(prefix),
    another: open,
    async close() {
      // A node that lost Redis counts alone: then these tests would not have shown what they say.
      expect(opened.filter(({ degraded }) => degraded)).toEqual([]);
      await Promise.all(opened.map((counters) => counters.close()));
      if (kind === 'redis') await removeKeys(prefix);
    },
  };
}

export async function removeKeys(prefix: string): Promise<void> {
  const client = await createClient({ url: redisUrl }).connect();
  for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1_000 })) {
    if (keys.length > 0) await client.unlink(keys);
  }
  await client.close();
}

async function answers(): Promise<boolean> {
  const client = createClient({ url: redisUrl, socket: { reconnectStrategy: false } });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.close();
    return true;
  } catch {
    return false;
  }
}
