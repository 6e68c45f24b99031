import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RateLimit, Rates } from '#limits/index.ts';
import { createRedisRates } from '#limits/redis/redis-rates.ts';
import { canStartRedis, type PrivateRedis, startPrivateRedis } from './private-redis.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

/** Milliseconds. */
const frozenFor = 90;
const servesFor = 310;
const turns = 12;

describe.skipIf(!canStartRedis)('a Redis that stands still 90 of every 400 ms', () => {
  let redis: PrivateRedis;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());

  test(
    'P-14: three nodes admit the limit and at most their shares once, and Redis is not given up',
    { timeout: 60_000 },
    async () => {
      const log: string[] = [];
      const open = (): Promise<Rates> =>
        createRedisRates({
          url: redis.url,
          now: Date.now,
          monotonic: () => performance.now(),
          random,
          liveNodes: () => 3,
          log: { info: () => {}, error: (message) => void log.push(message) },
        });
      const nodes = [await open(), await open(), await open()];
      const rate: RateLimit = { name: 'rate', limit: 90, windowMs: 60_000 };
      const slots: RateLimit = { name: 'slots', limit: 9, windowMs: 0 };
      let count = 0;
      let admitted = 0;
      let running = 0;
      let most = 0;
      const ending = new AbortController();

      const ask = async (node: Rates, limits: readonly RateLimit[]): Promise<string | null> => {
        const id = `request-${(count += 1)}`;
        return (await node.checkRates({ id, limits })).admitted ? id : null;
      };
      const useRate = async (node: Rates): Promise<void> => {
        while (!ending.signal.aborted) {
          if ((await ask(node, [rate])) !== null) admitted += 1;
          await delay(20);
        }
      };
      const useSlots = async (node: Rates): Promise<void> => {
        while (!ending.signal.aborted) {
          const id = await ask(node, [slots]);
          if (id !== null) {
            running += 1;
            most = Math.max(most, running);
            await delay(60);
            running -= 1;
            node.leave(id);
          }
          await delay(5);
        }
      };
      const clients = nodes.flatMap((node) => [
        useRate(node),
        ...Array.from({ length: 8 }, () => useSlots(node)),
      ]);
      // A busy machine needs more turns for as many requests.
      for (let turn = 0; turn < turns || admitted < rate.limit; turn += 1) {
        redis.freeze();
        await delay(frozenFor);
        redis.thaw();
        await delay(servesFor);
      }
      ending.abort();
      await Promise.all(clients);
      await Promise.all(nodes.map((node) => node.close()));
      expect(admitted).toBeLessThanOrEqual(2 * rate.limit);
      expect(most).toBeLessThanOrEqual(2 * slots.limit);
      expect(log).toEqual([]);
    },
  );
});
