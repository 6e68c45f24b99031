import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'));
  beforeAll(async () => {
    redis = await startPrivateRedis(['--dir', folder]);
  });
  afterAll(async () => {
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    opened = [];
    log = [];
    liveNodes = 1;
  });
  afterEach(async () => {
    redis.thaw();
    await Promise.all(opened.map((node) => node.close()));
    await redis.command('CONFIG', 'SET', 'maxmemory', '0');
    await redis.command('FLUSHALL');
  });

  const open = async (url = redis.url): Promise<Rates> => {
    const node = await createRedisRates({
      url,
      now: Date.now,
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
  const slots = (limit: number): RateLimit[] => [{ name: fresh('key'), limit, windowMs: 0 }];
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
  /** Until Redis decides for the node. */
  const isBack = (node: Rates): Promise<void> =>
    until(() => node.checkRates({ id: fresh('request'), limits: rate(1) }) instanceof Promise);
  /** Asks, and waits until the node has given up its connection. */
  const isLost = async (node: Rates): Promise<void> => {
    await admit(node, rate(1));
    await until(() => node.degraded.includes('redis'));
  };

  test('L-12, R-30: a frozen Redis costs one request after the other 50 ms once, and the others nothing', async () => {
    const node = await open();
    const limits = rate(1_000);
    await admitted(node, limits, 50);
    // A batch of those may have been slow.
    await isBack(node);
    redis.freeze();
    const begin = performance.now();
    const waited: boolean[] = [];
    for (let at = 0; at < 500; at += 1) {
      const decision = node.checkRates({ id: fresh('request'), limits });
      waited.push(decision instanceof Promise);
      await decision;
      if (at === 0) expect(performance.now() - begin).toBeGreaterThanOrEqual(49);
    }
    expect(waited.indexOf(true)).toBe(0);
    expect(waited.lastIndexOf(true)).toBe(0);
    await isLost(node);
    redis.thaw();
    await isBack(node);
    expect(log.slice(-3)).toEqual([
      'connected to Redis',
      "lost connection to Redis; enforcing this node's share of every rate",
      'connected to Redis',
    ]);
  });

  test('one slow batch is no reason to leave, and what was admitted meanwhile is counted once', async () => {
    const node = await open();
    const other = await open();
    liveNodes = 2;
    const limits = rate(20);
    for (let pause = 0; pause < 4; pause += 1) {
      await redis.command('CLIENT', 'PAUSE', '90');
      // Redis takes the first one too late, and knows nothing of the second one.
      expect(await admitted(node, limits, 2)).toBe(2);
      await isBack(node);
    }
    expect(log.filter((message) => message.startsWith('lost'))).toEqual([]);
    await isBack(other);
    expect(await admitted(other, limits, 30)).toBe(12);
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
    // What they admitted alone counts.
    for (const node of nodes) expect(await admitted(node, limits, 10)).toBe(0);
  });

  test('shares are not granted anew when Redis comes and goes', { timeout: 60_000 }, async () => {
    liveNodes = 2;
    const nodes = [await open(), await open()];
    const limits = rate(60);
    expect(await admitted(nodes[0]!, limits, 10)).toBe(10);
    let total = 10;
    for (let flap = 0; flap < 6; flap += 1) {
      redis.freeze();
      for (const node of nodes) {
        await admit(node, rate(1));
        total += await admitted(node, limits, 15);
      }
      redis.thaw();
      await Promise.all(nodes.map(isBack));
    }
    for (const node of nodes) total += await admitted(node, limits, 70);
    expect(total).toBe(60);
  });

  test('a window that Redis has called full stays full without it', async () => {
    const node = await open();
    const other = await open();
    liveNodes = 2;
    const limits = rate(10);
    expect(await admitted(other, limits, 10)).toBe(10);
    expect(await admitted(node, limits, 1)).toBe(0);
    redis.freeze();
    await isLost(node);
    expect(await admitted(node, limits, 5)).toBe(0);
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
      await until(() => node.degraded.includes('redis'));
      await redis.command(...cure);
    }
    await isBack(node);
    for (let at = 0; at < 10; at += 1) await exchange();
  });

  test('P-15, L-11: emptied, rates admit at most twice, then exactly; slots of requests under way are taken', async () => {
    const [node, other] = [await open(), await open()];
    const limits = rate(20);
    const under = slots(1);
    await admit(node, under);
    expect(await admitted(other, limits, 50)).toBe(20);

    await redis.command('FLUSHALL');
    // The first one to ask finds out; the other one looks by itself.
    await admit(other, rate(1));
    await until(() => log.filter((message) => message.startsWith('Redis has lost')).length === 2);
    await isBack(node);
    expect(await admit(other, under)).toMatchObject({ admitted: false });
    const again = await open();
    expect(await admitted(again, limits, 50)).toBe(20);
    expect(await admitted(again, limits, 50)).toBe(0);
  });

  test('a Redis that went back in time is an emptied one, though its epoch is the same', async () => {
    const [node, other] = [await open(), await open()];
    const under = slots(1);
    await admit(node, rate(1));
    const goBack = await redis.snapshot();
    await admit(node, under);
    await goBack();
    expect(await redis.command('EXISTS', `sluice:slots:${under[0]!.name}`)).toBe(0);
    // Both look by themselves.
    await until(() => log.filter((message) => message.startsWith('Redis has lost')).length === 2);
    await isBack(node);
    await isBack(other);
    expect(await admit(other, under)).toMatchObject({ admitted: false });
    expect(node.degraded).toEqual([]);
  });

  test('killed and back from its own snapshot, it has lost what came since, and no more', async () => {
    const [node, other] = [await open(), await open()];
    const limits = rate(10);
    const under = slots(1);
    expect(await admitted(other, limits, 4)).toBe(4);
    await redis.command('SAVE');
    try {
      expect(await admitted(node, limits, 10)).toBe(6);
      await admit(node, under);
      await redis.stop();
      await redis.start();
      await until(() => log.filter((message) => message.startsWith('Redis has lost')).length === 2);
      for (const one of [node, other]) await isBack(one);
      expect(await admit(other, under)).toMatchObject({ admitted: false });
      // The node remembers that the window is full; the other one is granted what Redis has forgotten.
      expect(await admitted(node, limits, 10)).toBe(0);
      expect(await admitted(other, limits, 10)).toBe(6);
    } finally {
      await redis.command('FLUSHALL');
      await redis.command('SAVE');
    }
  });

  test('a gateway starts without Redis, and uses it once it appears', async () => {
    await redis.stop();
    const node = await open();
    expect(node.degraded).toEqual(['redis']);
    const limits = rate(10);
    expect(await admitted(node, limits, 20)).toBe(10);
    await redis.start();
    await isBack(node);
    expect(await admit(node, rate(1))).toEqual({ admitted: true });
  });

  test('what a node leaves before it closes is left', async () => {
    const [node, other] = [await open(), await open()];
    const under = slots(1);
    const id = fresh('request');
    await admit(node, under, id);
    node.leave(id);
    await node.close();
    expect(await admit(other, under)).toEqual({ admitted: true });
  });

  test('a Redis that evicts keys is named; so is what outlives it', async () => {
    const first = await open();
    expect(first.server).toEqual({ eviction: 'noeviction', persistence: 'none' });
    expect(first.degraded).toEqual([]);
    await redis.command('CONFIG', 'SET', 'maxmemory', '1gb');
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await redis.command('CONFIG', 'SET', 'save', '60 1');
    try {
      const node = await open();
      expect(node.server).toEqual({ eviction: 'allkeys-lru', persistence: 'snapshots' });
      expect(node.degraded).toEqual(['redis evicts keys (allkeys-lru): rates may be forgotten']);
    } finally {
      await redis.command('CONFIG', 'SET', 'save', '');
      await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    }
    await redis.command('ACL', 'SETUSER', 'guest', 'on', '>guest', '~*', '+@all', '-config');
    const guest = await open(redis.url.replace('//', '//guest:guest@'));
    expect(guest.server).toEqual({ eviction: 'unknown', persistence: 'unknown' });
    expect(guest.degraded).toEqual([]);
  });
});
