import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createRedisCounters } from '#limits/redis/redis-counters.ts';
import type { Counters, Meter, RateLimit } from '#limits/index.ts';
import { canStartRedis, type PrivateRedis, startPrivateRedis } from './private-redis.ts';

describe.skipIf(!canStartRedis)('when Redis fails', () => {
  let redis: PrivateRedis;
  let opened: Counters[];
  let spent: Map<string, bigint>;
  /** Meters the database was asked of, question by question. */
  let asked: (readonly string[])[];
  let log: string[];
  let liveNodes: number;
  /** Added to the monotonic clock. */
  let later: number;
  /** Added to the wall clock. */
  let stepped: number;
  let count = 0;
  beforeAll(async () => {
    redis = await startPrivateRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(() => {
    opened = [];
    log = [];
    asked = [];
    spent = new Map();
    liveNodes = 1;
    later = 0;
    stepped = 0;
  });
  afterEach(async () => {
    redis.thaw();
    await Promise.all(opened.map((node) => node.close()));
    await redis.command('FLUSHALL');
  });

  const open = async (url = redis.url): Promise<Counters> => {
    const node = await createRedisCounters({
      url,
      now: () => Date.now() + stepped,
      monotonic: () => performance.now() + later,
      // The longest pause between two probes.
      random: () => 1,
      spent: async (meters) => {
        asked.push(meters);
        return new Map(spent);
      },
      liveNodes: () => liveNodes,
      log: { info: (message) => log.push(message), error: (message) => log.push(message) },
    });
    opened.push(node);
    return node;
  };

  const fresh = (kind: string): string => `${kind}-${(count += 1)}`;
  const rate = (limit: number): RateLimit[] => [{ name: fresh('key'), limit, windowMs: 60_000 }];
  const meterOf = (limit: bigint): Meter => ({ name: fresh('meter'), limit, floor: 1n });
  const admit = async (node: Counters, limits: readonly RateLimit[], id = fresh('request')) =>
    node.checkRates({ id, limits });
  const hold = async (node: Counters, meter: Meter, amount: bigint, id = fresh('request')) =>
    node.hold({ id, amount, meters: [meter], expiresAt: Date.now() + stepped + 60_000 });
  const admitted = async (node: Counters, limits: readonly RateLimit[], tries: number) => {
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
  const isBack = (node: Counters): Promise<void> => until(() => !node.degraded);
  /** Asks until the node has noticed. */
  const isLost = async (node: Counters): Promise<void> => {
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

  test('L-13: meanwhile the database is queried once per meter, not per request', async () => {
    const node = await open();
    const [known, one, two] = [meterOf(10_000n), meterOf(10_000n), meterOf(10_000n)];
    expect(await hold(node, known, 1n)).toMatchObject({ held: true });
    redis.freeze();
    await isLost(node);
    asked.length = 0;
    const limits = rate(1_000);
    for (const meter of [known, one, two]) {
      const decisions = await Promise.all(Array.from({ length: 100 }, () => hold(node, meter, 1n)));
      expect(decisions.filter(({ held }) => held)).toHaveLength(100);
      for (let turn = 0; turn < 100; turn += 1) {
        const id = fresh('request');
        expect(await admit(node, limits, id)).toEqual({ admitted: true });
        expect(await hold(node, meter, 1n, id)).toMatchObject({ held: true });
        node.commitHold(id, [meter.name], 1n);
        node.leave(id);
      }
    }
    expect(asked).toEqual([[one.name], [two.name]]);
    redis.thaw();
    await isBack(node);
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

  test('each node spends its share of what was left by the last known state', async () => {
    liveNodes = 3;
    const [one, two] = [await open(), await open()];
    const meter = meterOf(1_000n);
    const unseen = meterOf(1_000n);
    spent.set(meter.name, 100n).set(unseen.name, 700n);
    const before = fresh('request');
    expect(await hold(one, meter, 300n, before)).toMatchObject({ held: true });
    redis.freeze();
    await isLost(one);
    await isLost(two);
    // 1000 − 100 − 300 among three; the other node knows only what the database says.
    expect(await hold(one, meter, 500n)).toEqual({ held: true, amount: 200n });
    expect(await hold(one, meter, 1n)).toEqual({ held: false, denied: meter.name });
    one.commitHold(before, [meter.name], 300n);
    expect(await hold(one, meter, 1n)).toEqual({ held: false, denied: meter.name });
    expect(await hold(two, unseen, 500n)).toEqual({ held: true, amount: 100n });
    redis.thaw();
    await isBack(one);
    await isBack(two);
  });

  test('an old state yields to the database, but is better than nothing', async () => {
    liveNodes = 2;
    const node = await open();
    const [meter, other] = [meterOf(1_000n), meterOf(1_000n)];
    for (const seen of [meter, other]) {
      const id = fresh('request');
      await hold(node, seen, 200n, id);
      node.commitHold(id, [seen.name], 200n);
      await hold(node, seen, 100n, fresh('request'));
    }
    later += 120_000;
    redis.freeze();
    await isLost(node);
    spent.set(meter.name, 700n);
    expect(await hold(node, meter, 1_000n)).toEqual({ held: true, amount: 150n });
    spent = new Map([['', 0n]]);
    expect(await hold(node, other, 1_000n)).toEqual({ held: true, amount: 400n });
    redis.thaw();
    await isBack(node);
  });

  test('P-03: settlements of the outage arrive once, open holds are held again', async () => {
    const node = await open();
    const meter = meterOf(10_000n);
    const ids = Array.from({ length: 20 }, () => fresh('request'));
    for (const id of ids) await hold(node, meter, 100n, id);
    redis.freeze();
    // These are sent and not answered: Redis executes them when it wakes up, and they are sent again.
    for (const id of ids.slice(0, 5)) node.commitHold(id, [meter.name], 10n);
    await isLost(node);
    for (const id of ids.slice(5, 15)) node.commitHold(id, [meter.name], 10n);
    const alone = fresh('request');
    expect(await hold(node, meter, 1_000n, alone)).toMatchObject({ held: true });
    redis.thaw();
    await isBack(node);
    expect(await node.read(meter.name)).toEqual({ spent: 150n, held: 1_500n });
    node.commitHold(alone, [meter.name], 7n);
    expect(await node.read(meter.name)).toEqual({ spent: 157n, held: 500n });
  });

  test.each([
    ['a killed connection', ['CLIENT', 'KILL', 'TYPE', 'normal'], []],
    ['a forgotten script', ['SCRIPT', 'FLUSH'], []],
    ['a short pause', ['CLIENT', 'PAUSE', '200'], []],
    ['a read-only replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    ['no memory left', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  ])('%s: every request is decided, and money is exact afterwards', async (_, fault, cure) => {
    const node = await open();
    const meter = meterOf(10_000n);
    const limits = rate(1_000);
    const one: RateLimit[] = [{ name: fresh('key'), limit: 1, windowMs: 0 }];
    let settled = 0n;
    const exchange = async (): Promise<void> => {
      const id = fresh('request');
      expect(await admit(node, [...limits, ...one], id)).toEqual({ admitted: true });
      expect(await hold(node, meter, 10n, id)).toMatchObject({ held: true });
      node.commitHold(id, [meter.name], 7n);
      node.leave(id);
      // Answered after the two before it, also when all three had to be sent again.
      await node.read(meter.name);
      settled += 7n;
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
    await until(() => !node.degraded);
    let state = await node.read(meter.name);
    for (let tries = 0; state?.spent !== settled && tries < 300; tries += 1) {
      await delay(10);
      state = await node.read(meter.name);
    }
    expect(state).toEqual({ spent: settled, held: 0n });
  });

  test('P-15, L-11: emptied, it starts again from the database; rates admit at most twice, then exactly', async () => {
    const node = await open();
    const meter = meterOf(1_000n);
    const limits = rate(20);
    const under: RateLimit[] = [{ name: fresh('key'), limit: 1, windowMs: 0 }];
    spent.set(meter.name, 100n);
    const [ended, held] = [fresh('request'), fresh('request')];
    await hold(node, meter, 200n, ended);
    await hold(node, meter, 300n, held);
    await admit(node, under, held);
    node.commitHold(ended, [meter.name], 150n);
    expect(await admitted(node, limits, 50)).toBe(20);

    await redis.command('FLUSHALL');
    spent.set(meter.name, 250n);
    await admit(node, rate(1));
    await isBack(node);
    expect(await hold(node, meter, 1_000n)).toEqual({ held: true, amount: 450n });
    expect(await node.read(meter.name)).toEqual({ spent: 250n, held: 750n });
    expect(await admit(node, under)).toMatchObject({ admitted: false });
    const again = await open();
    expect(await admitted(again, limits, 50)).toBeLessThanOrEqual(20);
    expect(await admitted(again, limits, 50)).toBe(0);
  });

  test('holds are restored after a step of the clock, for as long as before', async () => {
    const node = await open();
    const [early, late] = [meterOf(1_000n), meterOf(1_000n)];
    await hold(node, early, 300n);
    stepped = 40 * 86_400_000;
    await redis.command('FLUSHALL');
    await admit(node, rate(1));
    await isBack(node);
    expect(await hold(node, early, 1_000n)).toEqual({ held: true, amount: 700n });
    await hold(node, late, 300n);
    stepped = -stepped;
    await redis.command('FLUSHALL');
    await admit(node, rate(1));
    await isBack(node);
    // Kept for two days beyond it.
    const kept = Number(await redis.command('PTTL', `sluice:holds:${late.name}`));
    const remaining = kept - 2 * 86_400_000;
    expect(remaining).toBeGreaterThan(30_000);
    expect(remaining).toBeLessThan(61_000);
  });

  test('settlements of the outage are not counted twice if Redis comes back empty', async () => {
    const node = await open();
    const meter = meterOf(1_000n);
    const id = fresh('request');
    await hold(node, meter, 200n, id);
    await redis.stop();
    await isLost(node);
    node.commitHold(id, [meter.name], 150n);
    spent.set(meter.name, 150n);
    await redis.start();
    await isBack(node);
    expect(await hold(node, meter, 1_000n)).toEqual({ held: true, amount: 850n });
  });

  test('nor if another node queried the database before Redis was informed', async () => {
    const node = await open();
    const meter = meterOf(1_000n);
    const id = fresh('request');
    await hold(node, meter, 200n, id);
    await redis.stop();
    await isLost(node);
    node.commitHold(id, [meter.name], 150n);
    spent.set(meter.name, 150n);
    later += 10_000;
    await redis.start();
    const another = await open();
    expect(await hold(another, meter, 100n)).toEqual({ held: true, amount: 100n });
    expect(node.degraded).toBe(true);
    await isBack(node);
    expect(await node.read(meter.name)).toEqual({ spent: 150n, held: 100n });
  });

  test('a gateway starts without Redis, and uses it once it appears', async () => {
    await redis.stop();
    const node = await open();
    expect(node.degraded).toBe(true);
    const limits = rate(10);
    expect(await admitted(node, limits, 20)).toBe(10);
    await redis.start();
    await isBack(node);
    expect(await hold(node, meterOf(10n), 3n)).toEqual({ held: true, amount: 3n });
  });

  test('an unreachable database refuses what it would have to be asked for', async () => {
    const node = await createRedisCounters({
      url: redis.url,
      now: Date.now,
      monotonic: () => performance.now(),
      random: Math.random,
      spent: () => Promise.reject(new Error('no database')),
      liveNodes: () => 1,
      log: { info: () => {}, error: () => {} },
    });
    opened.push(node);
    await expect(hold(node, meterOf(10n), 3n)).rejects.toMatchObject({ errorName: 'unavailable' });
    redis.freeze();
    await isLost(node);
    await expect(hold(node, meterOf(10n), 3n)).rejects.toMatchObject({ errorName: 'unavailable' });
    redis.thaw();
    await isBack(node);
  });
});
