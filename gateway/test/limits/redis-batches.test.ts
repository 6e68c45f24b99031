import { setImmediate as immediate } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createRedisCounters } from '#limits/redis/redis-counters.ts';
import type { Counters, Meter, RateLimit } from '#limits/index.ts';
import { canStartRedis, type PrivateRedis, startPrivateRedis } from './private-redis.ts';
import { monitor } from './redis-monitor.ts';

describe.skipIf(!canStartRedis)('the Redis commands of one turn', () => {
  let redis: PrivateRedis;
  let node: Counters;
  let count = 0;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());
  /** Time enough for every response, but where it is about none. */
  const open = async (commandTimeoutMs = 10_000): Promise<Counters> => {
    node = await createRedisCounters({
      url: redis.url,
      now: Date.now,
      monotonic: () => performance.now(),
      random: () => 0,
      spent: async () => new Map(),
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
  const meterOf = (limit: bigint): Meter => ({ name: fresh('meter'), limit, floor: 1n });
  const hold = async (meter: Meter, amount: bigint, id = fresh('request')) =>
    node.hold({ id, amount, meters: [meter], expiresAt: Date.now() + 60_000 });
  const admit = async (limits: readonly RateLimit[], id = fresh('request')) =>
    node.checkRates({ id, limits });
  const both = (id: string, limits: readonly RateLimit[], meter: Meter, amount: bigint) =>
    Promise.all([admit(limits, id), hold(meter, amount, id)]);

  /** Of the event loop: enough for everything that is due to be sent. */
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn += 1) await immediate();
  };

  test('leave together and in order, so the next request sees what the previous one released', async () => {
    await open();
    const asked = await monitor(redis);
    const [meter, limits] = [meterOf(100n), slot(1)];
    const [first, second] = [fresh('request'), fresh('request')];
    await both(first, limits, meter, 100n);
    await asked();
    node.commitHold(first, [meter.name], 30n);
    node.leave(first);
    expect(await both(second, limits, meter, 100n)).toEqual([
      { admitted: true },
      { held: true, amount: 70n },
    ]);
    expect(await asked()).toEqual([['settle', 'leave', 'admit', 'hold']]);
  });

  test('wait for a command in flight if they are ends', async () => {
    await open();
    const [meter, limits] = [meterOf(100n), slot(2)];
    const [first, second] = [fresh('request'), fresh('request')];
    for (const id of [first, second]) await both(id, limits, meter, 10n);
    const asked = await monitor(redis);
    redis.freeze();
    const read = node.read(meter.name);
    await turns();
    node.commitHold(first, [meter.name], 1n);
    await turns();
    node.commitHold(second, [meter.name], 2n);
    node.leave(second);
    await turns();
    redis.thaw();
    expect(await read).toEqual({ spent: 0n, held: 20n });
    await node.close();
    expect(await asked()).toEqual([['read'], ['settle', 'settle', 'leave']]);
  });

  test('are split into batches that do not block Redis for long', async () => {
    await open();
    const meter = meterOf(1_000n);
    const ids = Array.from({ length: 250 }, () => fresh('request'));
    await Promise.all(ids.map((id) => hold(meter, 2n, id)));
    const asked = await monitor(redis);
    for (const id of ids) node.commitHold(id, [meter.name], 1n);
    expect(await node.read(meter.name)).toEqual({ spent: 250n, held: 0n });
    expect((await asked()).map(({ length }) => length)).toEqual([100, 100, 51]);
  });

  test('fail separately: a failed step does not affect the others', async () => {
    await open();
    const [broken, whole, limits] = [meterOf(100n), meterOf(100n), slot(1)];
    await redis.command('SET', `sluice:meter:${broken.name}`, 'no hash');
    for (let turn = 0; turn < 10; turn += 1) {
      const id = fresh('request');
      const inShare = hold(broken, 1n);
      expect(await both(id, limits, whole, 10n)).toEqual([
        { admitted: true },
        { held: true, amount: 10n },
      ]);
      expect(await inShare).toMatchObject({ held: true });
      node.commitHold(id, [whole.name], 7n);
      node.leave(id);
    }
    expect(node.degraded).toBe(false);
    expect(await node.read(whole.name)).toEqual({ spent: 70n, held: 0n });
  });

  test('without a reply take effect once, however often they are sent', async () => {
    await open(50);
    const [meter, limits] = [meterOf(1_000n), slot(1)];
    const first = fresh('request');
    await both(first, limits, meter, 100n);
    redis.freeze();
    // Redis takes these when it wakes up, from the connection that was given up.
    node.commitHold(first, [meter.name], 60n);
    node.leave(first);
    const second = fresh('request');
    // In this node's share, for which the slot is free.
    expect(await both(second, limits, meter, 500n)).toMatchObject([
      { admitted: true },
      { held: true },
    ]);
    for (let tries = 0; !node.degraded && tries < 20; tries += 1) {
      await admit(slot(1));
    }
    redis.thaw();
    await expect.poll(() => node.degraded, { timeout: 10_000 }).toBe(false);
    expect(await node.read(meter.name)).toEqual({ spent: 60n, held: 500n });
    expect(await admit(limits)).toMatchObject({ admitted: false });
    node.commitHold(second, [meter.name], 40n);
    node.leave(second);
    expect(await admit(limits)).toEqual({ admitted: true });
    expect(await node.read(meter.name)).toEqual({ spent: 100n, held: 0n });
  });
});
