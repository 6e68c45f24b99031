import { randomBytes } from 'node:crypto';
import { createClient } from '@redis/client';
import { expect } from 'vitest';
import { createMemoryRates, type Rates } from '#limits/index.ts';
import { createRedisRates } from '#limits/redis/redis-rates.ts';
import { TestClock } from './test-clock.ts';

export const redisUrl = process.env.SLUICE_TEST_REDIS ?? 'redis://127.0.0.1:6379';

export const redisAnswers = await answers();
if (!redisAnswers && process.env.CI !== undefined) {
  throw new Error(`no Redis at ${redisUrl}, which this run requires`);
}

/** For `describe.each`: everything that counts rates. Redis is skipped, visibly, when it is unreachable. */
export const implementations = ['memory', 'redis'] as const;
export type Implementation = (typeof implementations)[number];
export const isSkipped = (kind: Implementation) => kind === 'redis' && !redisAnswers;

export interface CountingBench {
  /** One node. */
  readonly rates: Rates;
  readonly clock: TestClock;
  /** Another node on the same Redis. */
  another(): Promise<Rates>;
  close(): Promise<void>;
}

/** Rates that know nothing yet, on a clock of their own. */
export async function openBench(kind: Implementation): Promise<CountingBench> {
  const clock = new TestClock();
  const prefix = `test-${randomBytes(6).toString('hex')}:`;
  const opened: Rates[] = [];

  const open = async (): Promise<Rates> => {
    const monotonic = () => clock.monotonic;
    const rates =
      kind === 'memory'
        ? createMemoryRates({ monotonic, liveNodes: () => 1 })
        : await createRedisRates({
            now: () => clock.wall,
            monotonic,
            url: redisUrl,
            prefix,
            random: () => 0.5,
            liveNodes: () => 1,
            log: { info: () => {}, error: () => {} },
            serverTime: () => clock.wall * 1_000,
            commandTimeoutMs: 10_000,
          });
    opened.push(rates);
    return rates;
  };

  return {
    rates: await open(),
    clock,
    another: open,
    async close() {
      // A node that lost Redis counts alone: then these tests would not have shown what they say.
      expect(opened.flatMap(({ degraded }) => degraded)).toEqual([]);
      await Promise.all(opened.map((rates) => rates.close()));
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
