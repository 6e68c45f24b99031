import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Counters, Meter, RateLimit } from '#limits/index.ts';
import { type CountingBench, openBench, redisAnswers } from './implementations.ts';

/** Rounds of requests at once; `npm run test:money` asks for many more. */
const rounds = Number(process.env['SLUICE_ADMISSION_ROUNDS'] ?? '20');

describe.skipIf(!redisAnswers)('three nodes on one Redis', () => {
  let bench: CountingBench;
  let nodes: Counters[];
  let count = 0;
  beforeAll(async () => {
    bench = await openBench('redis');
    nodes = [bench.counters, await bench.another(), await bench.another()];
  });
  afterAll(() => bench.close());

  const fresh = (kind: string): string => `${kind}-${(count += 1)}`;
  const hold = (node: Counters, meter: Meter, amount: bigint, id = fresh('request')) =>
    node.hold({ id, amount, meters: [meter], expiresAt: bench.clock.wall + 60_000 });

  test('P-14: together they admit exactly the limit, and again after the wait', async () => {
    const limits: RateLimit[] = [{ name: fresh('key'), limit: 90, windowMs: 60_000 }];
    const all = (): Promise<boolean[]> =>
      Promise.all(
        Array.from({ length: 300 }, async (_, at) => {
          const decision = await nodes[at % 3]!.checkRates({ id: fresh('request'), limits });
          return decision.admitted;
        }),
      );
    expect((await all()).filter(Boolean)).toHaveLength(90);
    const refused = await nodes[1]!.checkRates({ id: fresh('request'), limits });
    if (refused.admitted) throw new Error('the limit did not hold');
    bench.clock.advance(refused.retryAfterMs!);
    expect((await all()).filter(Boolean)).toHaveLength(90);
  });

  test('slots taken on one are taken on all', async () => {
    const limits: RateLimit[] = [{ name: fresh('key'), limit: 1, windowMs: 0 }];
    expect(await nodes[0]!.checkRates({ id: 'first', limits })).toEqual({ admitted: true });
    expect(await nodes[1]!.checkRates({ id: 'second', limits })).toMatchObject({ admitted: false });
    nodes[0]!.leave('first');
    await nodes[0]!.read('nothing');
    expect(await nodes[2]!.checkRates({ id: 'third', limits })).toEqual({ admitted: true });
  });

  test('a slot of a dead node is free after a minute', async () => {
    const limits: RateLimit[] = [{ name: fresh('key'), limit: 1, windowMs: 0 }];
    await nodes[0]!.checkRates({ id: fresh('request'), limits });
    bench.clock.advance(59_999);
    expect(await nodes[1]!.checkRates({ id: fresh('request'), limits })).toMatchObject({
      admitted: false,
    });
    bench.clock.advance(1);
    expect(await nodes[1]!.checkRates({ id: fresh('request'), limits })).toEqual({
      admitted: true,
    });
  });

  test('slots last as long as their requests, and a slot released during the renewal stays released', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const own = await openBench('redis');
    try {
      const [node, other] = [own.counters, await own.another()];
      const running = Array.from({ length: 200 }, () => ({
        id: fresh('request'),
        limits: [{ name: fresh('key'), limit: 1, windowMs: 0 }],
      }));
      for (const each of running) expect(await node.checkRates(each)).toEqual({ admitted: true });
      const freeElsewhere = async (): Promise<number> => {
        own.clock.advance(1_000);
        const decisions = await Promise.all(
          running.map(async ({ limits }) => other.checkRates({ id: fresh('request'), limits })),
        );
        return decisions.filter(({ admitted }) => admitted).length;
      };
      const beginRenewal = (): void => {
        own.clock.advance(20_000);
        vi.advanceTimersByTime(20_000);
      };
      /** As many round trips as a renewal may take. */
      const endRenewal = async (): Promise<void> => {
        for (let trip = 0; trip < running.length + 10; trip += 1) await node.read('nothing');
      };
      for (let turn = 0; turn < 4; turn += 1) {
        beginRenewal();
        await endRenewal();
      }
      expect(await freeElsewhere()).toBe(0);
      beginRenewal();
      await node.read('nothing');
      for (const { id } of running) node.leave(id);
      await endRenewal();
      expect(await freeElsewhere()).toBe(running.length);
    } finally {
      vi.useRealTimers();
      await own.close();
    }
  });

  test.each([2, 10, 200])(
    `B-10: of %i at once on four nodes with money for one, one is admitted, ${rounds} times`,
    { timeout: 60_000 + rounds * 1_000 },
    async (many) => {
      const four = [...nodes, await bench.another()];
      for (let round = 0; round < rounds; round += 1) {
        const meter: Meter = { name: fresh('meter'), limit: 1_500n, floor: 1n };
        bench.spent.set(meter.name, 500n);
        const decisions = await Promise.all(
          Array.from({ length: many }, async (_, at) => hold(four[at % 4]!, meter, 5_000n)),
        );
        expect(decisions.filter(({ held }) => held)).toEqual([{ held: true, amount: 1_000n }]);
      }
    },
  );

  test('P-03: a settlement repeated by every node is counted once', async () => {
    const meter: Meter = { name: fresh('meter'), limit: 1_000n, floor: 1n };
    const id = fresh('request');
    await hold(nodes[0]!, meter, 400n, id);
    for (const node of [...nodes, ...nodes]) node.commitHold(id, [meter.name], 300n);
    for (const node of nodes) {
      await node.read(meter.name);
      expect(await node.read(meter.name)).toEqual({ spent: 300n, held: 0n });
    }
  });

  test('the spending of a dead node is read from the database', async () => {
    const meter: Meter = { name: fresh('meter'), limit: 1_000n, floor: 1n };
    await hold(nodes[0]!, meter, 400n);
    bench.clock.advance(60_000);
    const before = fresh('request');
    expect(await hold(nodes[1]!, meter, 100n, before)).toEqual({ held: true, amount: 100n });
    nodes[1]!.commitHold(before, [meter.name], 50n);
    await nodes[1]!.read(meter.name);
    // Its journal was read after it had started again.
    bench.spent.set(meter.name, 350n);
    bench.clock.advance(60_000);
    expect(await hold(nodes[1]!, meter, 1_000n)).toEqual({ held: true, amount: 650n });
  });

  test('settlements before Redis was emptied count, though they reach the database later', async () => {
    const own = await openBench('redis');
    try {
      const [one, two] = [own.counters, await own.another()];
      const meter: Meter = { name: fresh('meter'), limit: 1_000n, floor: 1n };
      const ask = (node: Counters, amount: bigint, id = fresh('request')) =>
        node.hold({ id, amount, meters: [meter], expiresAt: own.clock.wall + 600_000 });
      const id = fresh('request');
      await ask(one, 400n, id);
      one.commitHold(id, [meter.name], 400n);
      await one.read(meter.name);
      await own.empty();
      // They notice, and enter it again.
      for (const node of [one, two]) {
        await node.read(meter.name);
        await expect.poll(() => node.degraded).toBe(false);
      }
      const after = fresh('request');
      expect(await ask(two, 100n, after)).toEqual({ held: true, amount: 100n });
      two.commitHold(after, [meter.name], 100n);
      await two.read(meter.name);
      own.spent.set(meter.name, 400n);
      own.clock.advance(5_000);
      own.database.isAway = true;
      const meanwhile = fresh('request');
      expect(await ask(two, 1n, meanwhile)).toMatchObject({ held: true });
      two.commitHold(meanwhile, [meter.name], 0n);
      await two.read(meter.name);
      own.database.isAway = false;
      own.clock.advance(5_000);
      // The database does not know of the last 100 yet, and Redis did not of the first 400.
      expect(await ask(two, 1n)).toMatchObject({ held: true });
      expect(await two.read(meter.name)).toEqual({ spent: 400n, held: 1n });
      own.spent.set(meter.name, 500n);
      own.clock.advance(5_000);
      expect(await ask(one, 1_000n)).toEqual({ held: true, amount: 499n });
      // From here on Redis knows all of it.
      own.asked.length = 0;
      own.clock.advance(5_000);
      await ask(two, 1n);
      own.clock.advance(5_000);
      await ask(two, 1n);
      expect(own.asked.filter((name) => name === meter.name).length).toBeLessThanOrEqual(1);
    } finally {
      await own.close();
    }
  });

  test('charges in flight during the database query do not hide them', async () => {
    const own = await openBench('redis');
    try {
      const node = own.counters;
      const meter: Meter = { name: fresh('meter'), limit: 1_000n, floor: 1n };
      const spend = async (amount: bigint): Promise<void> => {
        const id = fresh('request');
        const expiresAt = own.clock.wall + 600_000;
        expect(await node.hold({ id, amount, meters: [meter], expiresAt })).toMatchObject({
          held: true,
        });
        node.commitHold(id, [meter.name], amount);
        await node.read(meter.name);
      };
      await spend(100n);
      await own.empty();
      await node.read(meter.name);
      await expect.poll(() => node.degraded).toBe(false);
      await spend(100n);
      // The first one has arrived there, the second one has not: as much as Redis knows, and it is not the same.
      own.spent.set(meter.name, 100n);
      own.clock.advance(5_000);
      await spend(10n);
      own.spent.set(meter.name, 210n);
      own.clock.advance(5_000);
      await spend(10n);
      expect(await node.read(meter.name)).toEqual({ spent: 220n, held: 0n });

      // Asked ever more seldom, and not after an hour.
      own.asked.length = 0;
      for (let minute = 0; minute < 120; minute += 1) {
        own.clock.advance(60_000);
        await spend(0n);
      }
      const asked = own.asked.filter((name) => name === meter.name).length;
      expect(asked).toBeGreaterThan(3);
      expect(asked).toBeLessThan(10);
    } finally {
      await own.close();
    }
  });

  test('money requested right behind an admission is held if that is granted, and not if it is denied', async () => {
    const limits: RateLimit[] = [{ name: fresh('key'), limit: 1, windowMs: 10_000 }];
    const meter: Meter = { name: fresh('meter'), limit: 100n, floor: 1n };
    const ask = (id: string) =>
      Promise.all([nodes[0]!.checkRates({ id, limits }), hold(nodes[0]!, meter, 10n, id)]);
    expect(await ask(fresh('request'))).toEqual([{ admitted: true }, { held: true, amount: 10n }]);
    expect(await ask(fresh('request'))).toEqual([
      { admitted: false, denied: limits[0]!.name, retryAfterMs: 10_000 },
      { held: false, denied: null },
    ]);
    expect(await nodes[1]!.read(meter.name)).toEqual({ spent: 0n, held: 10n });
  });

  test('a refusal is remembered without asking Redis, and no longer than it is true', async () => {
    const limits: RateLimit[] = [{ name: fresh('key'), limit: 1, windowMs: 10_000 }];
    const ask = () => nodes[0]!.checkRates({ id: fresh('request'), limits });
    expect(await ask()).toEqual({ admitted: true });
    bench.clock.advance(4_000);
    expect(await ask()).toMatchObject({ retryAfterMs: 6_000 });
    bench.clock.advance(2_000);
    const known = ask();
    expect(known).not.toBeInstanceOf(Promise);
    expect(known).toMatchObject({ admitted: false, retryAfterMs: 4_000 });
    bench.clock.advance(4_000);
    expect(await ask()).toEqual({ admitted: true });
  });

  test('money released on another node is visible within half a second', async () => {
    const meter: Meter = { name: fresh('meter'), limit: 100n, floor: 1n };
    const id = fresh('request');
    await hold(nodes[0]!, meter, 100n, id);
    expect(await hold(nodes[1]!, meter, 1n)).toMatchObject({ held: false });
    nodes[0]!.commitHold(id, [meter.name], 0n);
    await nodes[0]!.read(meter.name);
    expect(hold(nodes[1]!, meter, 1n)).toEqual({ held: false, denied: meter.name });
    bench.clock.advance(500);
    expect(await hold(nodes[1]!, meter, 1n)).toMatchObject({ held: true });
  });
});
