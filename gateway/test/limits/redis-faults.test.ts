import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRedisRates } from '#limits/redis/redis-rates.ts';
import type { RateLimit, Rates } from '#limits/index.ts';
import { canStartRedis, type PrivateRedis, startPrivateRedis } from './private-redis.ts';

describe.skipIf(!canStartRedis)('when Redis fails', () => {
  let redis: PrivateRedis;
  let opened: Rates[];
  let log: string[];
  let liveNodes: number;
  let count = 0;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(() => {
    opened = [];
    log = [];
    liveNodes = 1;
  });
  afterEach(async () => {
    redis.thaw();
    await Promise.all(opened.map((node) => node.close()));
    await redis.command('FLUSHALL');
  });

  const open = async (url = redis.url): Promise<Rates> => {
    const node = await createRedisRates({
      url,
      monotonic: () => performance.now(),
      // The longest pause between two probes.
      random: () => 1,
      liveNodes: () => liveNodes,
      log: { info: (message) => log.push(message), error: (message) => log.push(message) },
    });
    opened.push(node);
    return node;
  };

  const fresh = (kind: string): string => `${kind}-${(count += 1)}`;
  const rate = (limit: number): RateLimit[] => [{ name: fresh('key'), limit, windowMs: 60_000 }];
  const admit = async (node: Rates, limits: readonly RateLimit[], id = fresh('request')) =>
    node.checkRates({ id, limits });
  const admitted = async (node: Rates, limits: readonly RateLimit[], tries: number) => {
    let total = 0;
    for (let at = 0; at < tries; at += 1) total += Number((await admit(node, limits)).admitted);
    return total;
  };
  const until = async (isTrue: () => boolean): Promise<void> => {
    for (let tries = 0; !isTrue(); tries += 1) {
      if (tries > 500) throw new Error('it did not come to pass');
      await delay(10);
    }
  };
  const isBack = (node: Rates): Promise<void> => until(() => !node.degraded);
  /** Asks until the node has noticed. */
  const isLost = async (node: Rates): Promise<void> => {
    for (let tries = 0; !node.degraded; tries += 1) {
      if (tries > 20) throw new Error('nobody noticed');
      await admit(node, rate(1));
    }
  };

  test('L-12, R-30: a frozen Redis costs at most five requests 55 ms, the others under 1 ms', async () => {
    const node = await open();
    const limits = rate(1_000);
    await admitted(node, limits, 50);
    await isBack(node);
    redis.freeze();
    const slow: number[] = [];
    const quick: number[] = [];
    for (let at = 0; at < 500; at += 1) {
      const times = node.degraded ? quick : slow;
      const begin = performance.now();
      await admit(node, limits);
      times.push(performance.now() - begin);
    }
    expect(slow).toHaveLength(5);
    // 50 ms of waiting, and on a machine that does other work the time until somebody notices that it is over.
    expect(Math.max(...slow)).toBeLessThan(550);
    const percentile = quick.toSorted((a, b) => a - b)[Math.floor(quick.length * 0.98)];
    expect(percentile).toBeLessThan(1);
    redis.thaw();
    await isBack(node);
    expect(log.slice(-3)).toEqual([
      'connected to Redis',
      "lost connection to Redis; enforcing this node's share of every limit",
      'connected to Redis',
    ]);
  });

  test('L-10: three nodes admit a third each, and never more than the limit', async () => {
    liveNodes = 3;
    const nodes = [await open(), await open(), await open()];
    const limits = rate(90);
    const tiny = rate(2);
    redis.freeze();
    for (const node of nodes) await isLost(node);
    for (const node of nodes) expect(await admitted(node, limits, 200)).toBe(30);
    for (const node of nodes) expect(await admitted(node, tiny, 10)).toBe(1);
    redis.thaw();
    await Promise.all(nodes.map(isBack));
  });

  test('admissions before the loss count against a node’s share', async () => {
    liveNodes = 3;
    const node = await open();
    const limits = rate(90);
    expect(await admitted(node, limits, 25)).toBe(25);
    redis.freeze();
    await isLost(node);
    expect(await admitted(node, limits, 50)).toBe(5);
    redis.thaw();
    await isBack(node);
  });

  test.each([
    ['a killed connection', ['CLIENT', 'KILL', 'TYPE', 'normal'], []],
    ['a forgotten script', ['SCRIPT', 'FLUSH'], []],
    ['a short pause', ['CLIENT', 'PAUSE', '200'], []],
    ['a read-only replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    ['no memory left', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  ])('%s: every request is decided, and slots are exact afterwards', async (_, fault, cure) => {
    const node = await open();
    const limits = rate(1_000);
    const one: RateLimit[] = [{ name: fresh('key'), limit: 1, windowMs: 0 }];
    const exchange = async (): Promise<void> => {
      const id = fresh('request');
      expect(await admit(node, [...limits, ...one], id)).toEqual({ admitted: true });
      expect(await admit(node, one)).toMatchObject({ admitted: false });
      node.leave(id);
    };
    for (let at = 0; at < 10; at += 1) await exchange();
    await redis.command(...fault).catch(() => {});
    for (let at = 0; at < 40; at += 1) await exchange();
    if (cure.length > 0) {
      expect(node.degraded).toBe(true);
      await redis.command(...cure);
    }
    await isBack(node);
    for (let at = 0; at < 10; at += 1) await exchange();
  });

  test('P-15, L-11: emptied, rates admit at most twice, then exactly; slots of requests under way are taken', async () => {
    const node = await open();
    const limits = rate(20);
    const under: RateLimit[] = [{ name: fresh('key'), limit: 1, windowMs: 0 }];
    await admit(node, under);
    expect(await admitted(node, limits, 50)).toBe(20);

    await redis.command('FLUSHALL');
    await admit(node, rate(1));
    await isBack(node);
    expect(await admit(node, under)).toMatchObject({ admitted: false });
    const again = await open();
    expect(await admitted(again, limits, 50)).toBeLessThanOrEqual(20);
    expect(await admitted(again, limits, 50)).toBe(0);
  });

  test('a gateway starts without Redis, and uses it once it appears', async () => {
    await redis.stop();
    const node = await open();
    expect(node.degraded).toBe(true);
    const limits = rate(10);
    expect(await admitted(node, limits, 20)).toBe(10);
    await redis.start();
    await isBack(node);
    expect(await admit(node, rate(1))).toEqual({ admitted: true });
  });
});
