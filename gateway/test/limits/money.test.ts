import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createMemoryMoney,
  unlimited,
  type HoldDecision,
  type Meter,
  type Money,
} from '#limits/index.ts';
import { MoneyModel } from './money-model.ts';
import { TestClock } from './test-clock.ts';

const minute = 60_000;

/** A process that knows nothing yet, on a clock of its own. */
function openBench() {
  const clock = new TestClock();
  /** What the database says was spent. */
  const spent = new Map<string, bigint>();
  /** Meters the database was asked of. */
  const asked: string[] = [];
  const open = (): Money =>
    createMemoryMoney({
      now: () => clock.wall,
      monotonic: () => clock.monotonic,
      async spent(meters) {
        asked.push(...meters);
        return new Map(spent);
      },
    });
  return { money: open(), clock, spent, asked, another: open };
}

describe('money in memory', () => {
  const bench = openBench();
  let count = 0;

  const fresh = (kind: string): string => `${kind}-${(count += 1)}`;
  const meter = (limit: bigint, floor = 1n): Meter => ({ name: fresh('meter'), limit, floor });
  const hold = async (
    meters: readonly Meter[],
    amount: bigint,
    { id = fresh('request'), forMs = minute } = {},
  ): Promise<HoldDecision> =>
    bench.money.hold({ id, amount, meters, expiresAt: bench.clock.wall + forMs });
  const read = async ({ name }: Meter) => bench.money.read(name);

  test('P-02, P-03: any order of holds, settlements, replays and time is counted like the model', async () => {
    const amount = fc.oneof(fc.bigInt(0n, 2_000n), fc.bigInt(0n, 2n ** 40n));
    const step = fc.oneof(
      fc.record({ do: fc.constant('hold'), amount, seconds: fc.integer({ min: 1, max: 90 }) }),
      fc.record({ do: fc.constant('settle'), which: fc.nat(20), amount }),
      fc.record({ do: fc.constant('wait'), seconds: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ do: fc.constant('limit'), which: fc.nat(2), to: fc.bigInt(0n, 6_000n) }),
    );
    const scenario = fc.record({
      limits: fc.array(fc.bigInt(0n, 6_000n), { minLength: 1, maxLength: 3 }),
      spent: fc.bigInt(0n, 500n),
      floor: fc.constantFrom(1n, 100n),
      steps: fc.array(step, { maxLength: 50 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ limits, spent, floor, steps }) => {
        let meters = limits.map((limit) => meter(limit, floor));
        for (const { name } of meters) bench.spent.set(name, spent);
        const model = new MoneyModel(meters, spent);
        const ids = Array.from({ length: 21 }, () => fresh('request'));
        const seen = fresh('request');
        await hold(meters, 1n, { id: seen });
        bench.money.commitHold(seen, [], 0n);
        let held = 0;
        for (const taken of steps) {
          if (taken.do === 'wait') {
            bench.clock.advance(taken.seconds * 1_000);
          } else if (taken.do === 'limit') {
            meters = meters.map((one, at) =>
              at === taken.which ? { ...one, limit: taken.to } : one,
            );
            model.limitTo(meters);
          } else if (taken.do === 'settle') {
            const id = ids[taken.which]!;
            bench.money.commitHold(
              id,
              meters.map(({ name }) => name),
              taken.amount,
            );
            model.commitHold(id, taken.amount);
          } else {
            const id = ids[held] ?? fresh('request');
            held += 1;
            if (model.hasEnded(id)) continue;
            const forMs = taken.seconds * 1_000;
            const decision = await hold(meters, taken.amount, { id, forMs });
            const now = bench.clock.wall;
            const expected = model.hold(id, taken.amount, now, now + forMs);
            expect(decision).toEqual(expected);
          }
          for (const one of meters) {
            expect(await read(one)).toEqual(model.read(bench.clock.wall));
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  test.each([2, 10, 200])(
    'B-10, B-11: of %i at once with money for one, one is admitted',
    async (many) => {
      const meters = [meter(10n ** 12n), meter(900n), meter(5_000n)];
      const decisions = await Promise.all(Array.from({ length: many }, () => hold(meters, 1_000n)));
      expect(decisions.filter(({ held }) => held)).toEqual([{ held: true, amount: 900n }]);
      const refused = decisions.filter(({ held }) => !held);
      expect(refused).toHaveLength(many - 1);
      for (const refusal of refused)
        expect(refusal).toEqual({ held: false, denied: meters[1]!.name });
      expect(await read(meters[0]!)).toEqual({ spent: 0n, held: 900n });
    },
  );

  test('K36: of 50 at once that hold 100 against a quota of 1000, ten are admitted', async () => {
    const quota = meter(1_000n);
    const decisions = await Promise.all(Array.from({ length: 50 }, () => hold([quota], 100n)));
    expect(decisions.filter(({ held }) => held)).toHaveLength(10);
    expect(await read(quota)).toEqual({ spent: 0n, held: 1_000n });
  });

  test('B-11, B-12: the first exhausted meter is named, and nothing is held on any', async () => {
    const meters = [meter(100n), meter(0n), meter(0n)];
    expect(await hold(meters, 50n)).toEqual({ held: false, denied: meters[1]!.name });
    expect(await read(meters[0]!)).toEqual({ spent: 0n, held: 0n });
  });

  test('P-05: one request at a time may cost more than it holds, whatever is freed meanwhile', async () => {
    const quota = meter(1_000n);
    const names = [quota.name];
    const [large, short] = [fresh('request'), fresh('request')];
    expect(await hold([quota], 990n, { id: large })).toMatchObject({ held: true });
    expect(await hold([quota], 300n, { id: short })).toEqual({ held: true, amount: 10n });
    bench.money.commitHold(large, names, 0n);
    // All but the crumb is free again: for what fits, not for the next one to leave a crumb.
    expect(await hold([quota], 985n, { id: fresh('request') })).toMatchObject({ held: true });
    expect(await hold([quota], 300n)).toEqual({ held: false, denied: quota.name });
    expect(await hold([quota], 2n)).toEqual({ held: true, amount: 2n });
    bench.money.commitHold(short, names, 0n);
    expect(await hold([quota], 300n)).toEqual({ held: true, amount: 13n });
  });

  test('P-05: also after its hold has expired', async () => {
    const quota = meter(1_000n);
    await hold([quota], 2_000n, { forMs: 30_000 });
    bench.clock.advance(31_000);
    expect(await hold([quota], 2_000n)).toEqual({ held: true, amount: 1_000n });
  });

  test('B-13: released money is available to the next request at once', async () => {
    const meters = [meter(100n)];
    const names = meters.map(({ name }) => name);
    for (let round = 0; round < 20; round += 1) {
      const id = fresh('request');
      expect(await hold(meters, 500n, { id })).toEqual({ held: true, amount: 100n });
      expect(await hold(meters, 1n)).toMatchObject({ held: false });
      bench.money.commitHold(id, names, 0n);
    }
  });

  test('B-22: 0.0099 USD is too little for a balance, 0.01 is enough', async () => {
    const floor = 10_000_000n;
    expect(await hold([meter(9_900_000n, floor)], 1n)).toMatchObject({ held: false });
    expect(await hold([meter(10_000_000n, floor)], 1n)).toEqual({ held: true, amount: 1n });
  });

  test('a credit counts at once, also right after a refusal', async () => {
    const poor = meter(10n);
    await hold([poor], 10n);
    expect(await hold([poor], 10n)).toMatchObject({ held: false });
    expect(await hold([{ ...poor, limit: 30n }], 15n)).toEqual({ held: true, amount: 15n });
  });

  test('a limit below the spent amount admits no hold', async () => {
    const overdrawn = meter(-5n);
    expect(await hold([overdrawn], 1n)).toMatchObject({ held: false });
  });

  test('P-08: a hold expires in time; later spending counts, once', async () => {
    const one = meter(1_000n);
    const id = fresh('request');
    await hold([one], 600n, { id, forMs: 30_000 });
    bench.clock.advance(29_000);
    expect(await read(one)).toEqual({ spent: 0n, held: 600n });
    bench.clock.advance(1_000);
    expect(await read(one)).toEqual({ spent: 0n, held: 0n });
    for (let replay = 0; replay < 100; replay += 1) bench.money.commitHold(id, [one.name], 250n);
    expect(await read(one)).toEqual({ spent: 250n, held: 0n });
  });

  test('spending beyond the hold counts in full, and then nothing is left', async () => {
    const one = meter(1_000n);
    const id = fresh('request');
    await hold([one], 900n, { id });
    bench.money.commitHold(id, [one.name], 1_200n);
    expect(await read(one)).toEqual({ spent: 1_200n, held: 0n });
    expect(await hold([one], 1n)).toMatchObject({ held: false });
  });

  test('R-32: a clock set back does not end a hold early', async () => {
    const one = meter(1_000n);
    await hold([one], 1_000n, { forMs: 30_000 });
    bench.clock.wall -= 3_600_000;
    bench.clock.advance(29_000);
    expect(await hold([one], 1n)).toMatchObject({ held: false });
  });

  test('a meter starts from the database, which is queried once', async () => {
    const one = meter(1_000n);
    bench.spent.set(one.name, 400n);
    const before = bench.asked.length;
    expect(await bench.money.read(one.name)).toBeNull();
    const holds = await Promise.all(Array.from({ length: 20 }, () => hold([one], 100n)));
    expect(holds.filter(({ held }) => held)).toHaveLength(6);
    expect(bench.asked.slice(before)).toEqual([one.name]);
  });

  test('amounts spent and held before a limit was set count against it', async () => {
    const balance = meter(1_000n);
    const quota = meter(unlimited);
    const limited = (limit: bigint) => [balance, { ...quota, limit }];
    const names = [balance.name, quota.name];
    for (const spent of [10n, 30n]) {
      const id = fresh('request');
      expect(await hold([balance, quota], 50n, { id })).toEqual({ held: true, amount: 50n });
      bench.money.commitHold(id, names, spent);
    }
    expect(await hold(limited(40n), 1n)).toEqual({ held: false, denied: quota.name });
    const underWay = fresh('request');
    await hold([balance, quota], 25n, { id: underWay });
    expect(await hold(limited(65n), 1n)).toEqual({ held: false, denied: quota.name });
    expect(await hold(limited(70n), 100n)).toEqual({ held: true, amount: 5n });
    bench.money.commitHold(underWay, names, 20n);
    expect(await read(quota)).toEqual({ spent: 60n, held: 5n });
    // A later process knows of it too, by what has been written of it.
    for (const { name } of [balance, quota]) bench.spent.set(name, 60n);
    const another = bench.another();
    const request = { amount: 9n, expiresAt: bench.clock.wall + minute };
    expect(await another.hold({ ...request, id: fresh('request'), meters: limited(60n) })).toEqual({
      held: false,
      denied: quota.name,
    });
    expect(
      await another.hold({ ...request, id: fresh('request'), meters: [balance, quota] }),
    ).toEqual({ held: true, amount: 9n });
  });

  test('amounts of 64 bits are exact', async () => {
    const edges = [2n ** 31n, 10n ** 9n, 2n ** 53n, 10n ** 18n, 2n ** 63n - 1n];
    const near = fc
      .tuple(fc.constantFrom(...edges), fc.bigInt(-3n, 3n))
      .map(([edge, by]) => (edge + by < 2n ** 63n ? edge + by : edge));
    await fc.assert(
      fc.asyncProperty(near, near, near, async (limit, spent, amount) => {
        const one = meter(limit);
        bench.spent.set(one.name, spent);
        const left = limit - spent;
        const held = left < amount ? left : amount;
        const id = fresh('request');
        const isHeld = left > 0n;
        expect(await hold([one], amount, { id })).toEqual(
          isHeld ? { held: true, amount: held } : { held: false, denied: one.name },
        );
        expect(await read(one)).toEqual({ spent, held: isHeld ? held : 0n });
        bench.money.commitHold(id, [one.name], 1n);
        expect(await read(one)).toEqual({ spent: isHeld ? spent + 1n : spent, held: 0n });
      }),
      { numRuns: 300 },
    );
  });
});
