import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRedisRates } from '#limits/redis/redis-rates.ts';
import type { RateLimit, Rates } from '#limits/index.ts';
import { canStartRedis, type PrivateRedis, startPrivateRedis } from './private-redis.ts';
import { monitor } from './redis-monitor.ts';

describe.skipIf(!canStartRedis)('the Redis commands of one turn', () => {
  let redis: PrivateRedis;
  let node: Rates;
  let count = 0;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());
  /** Time enough for every response, but where it is about none. */
  const open = async (commandTimeoutMs = 10_000): Promise<Rates> => {
    node = await createRedisRates({
      url: redis.url,
      now: Date.now,
      monotonic: () => performance.now(),
      random: () => 0,
      liveNodes: () => 1,
      log: { info: () => {}, error: () => {} },
      commandTimeoutMs,
    });
    return node;
  };
  afterEach(async () => {
    redis.thaw();
    await node.close();
    await redis.command('FLUSHALL');
  });

  const fresh = (kind: string): string => `${kind}-${(count += 1)}`;
  const slot = (limit: number): RateLimit[] => [{ name: fresh('key'), limit, windowMs: 0 }];
  const admit = async (limits: readonly RateLimit[], id = fresh('request')) =>
    node.checkRates({ id, limits });

  /** Of the event loop: enough for everything that is due to be sent. */
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await immediate();
  };

  /** Until Redis decides again. */
  const isAsked = (): Promise<void> =>
    expect
      .poll(() => node.checkRates({ id: fresh('request'), limits: slot(1) }) instanceof Promise, {
        timeout: 10_000,
      })
      .toBe(true);

  test('leave together and in order, so the next request sees what the previous one released', async () => {
    await open();
    const asked = await monitor(redis);
    const limits = slot(1);
    const first = fresh('request');
    await admit(limits, first);
    await asked();
    node.leave(first);
    expect(await admit(limits)).toEqual({ admitted: true });
    expect(await asked()).toEqual([['leave', 'admit']]);
  });

  test('wait for a command in flight if they are ends', async () => {
    await open();
    const limits = slot(3);
    const [first, second] = [fresh('request'), fresh('request')];
    for (const id of [first, second]) await admit(limits, id);
    const asked = await monitor(redis);
    redis.freeze();
    const third = admit(limits);
    await turns();
    node.leave(first);
    await turns();
    node.leave(second);
    await turns();
    redis.thaw();
    expect(await third).toEqual({ admitted: true });
    await node.close();
    expect(await asked()).toEqual([['admit'], ['leave', 'leave']]);
  });

  test('are split into batches that do not block Redis for long', async () => {
    await open();
    const limits = slot(300);
    const ids = Array.from({ length: 250 }, () => fresh('request'));
    await Promise.all(ids.map((id) => admit(limits, id)));
    const asked = await monitor(redis);
    for (const id of ids) node.leave(id);
    expect(await admit(limits)).toEqual({ admitted: true });
    expect((await asked()).map(({ length }) => length)).toEqual([100, 100, 51]);
  });

  test('fail separately: a failed step does not affect the others', async () => {
    await open();
    const [broken, whole] = [slot(1_000), slot(1)];
    await redis.command('SET', `sluice:slots:${broken[0]!.name}`, 'no sorted set');
    for (let turn = 0; turn < 10; turn += 1) {
      const id = fresh('request');
      const inShare = admit(broken);
      expect(await admit(whole, id)).toEqual({ admitted: true });
      expect(await admit(whole)).toMatchObject({ admitted: false });
      expect(await inShare).toEqual({ admitted: true });
      node.leave(id);
    }
    expect(node.degraded).toEqual([]);
  });

  test('without a reply take effect once, however often they are sent', async () => {
    await open(50);
    const limits = slot(1);
    const first = fresh('request');
    await admit(limits, first);
    redis.freeze();
    // Redis takes this when it wakes up, from the connection that was given up.
    node.leave(first);
    const second = fresh('request');
    // In this node's share, for which the slot is free.
    expect(await admit(limits, second)).toEqual({ admitted: true });
    redis.thaw();
    await isAsked();
    expect(await admit(limits)).toMatchObject({ admitted: false });
    node.leave(second);
    expect(await admit(limits)).toEqual({ admitted: true });
  });
});
