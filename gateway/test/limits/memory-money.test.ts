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
      async spentSource(meters) {
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
        bench.money.commitHold(seen, 0n);
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
            bench.money.commitHold(id, taken.amount);
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

  test('a meter starts from the database, which is queried once', async () => {
    const one = meter(1_000n);
    bench.spent.set(one.name, 400n);
    const before = bench.asked.length;
    expect(await bench.money.read(one.name)).toBeNull();
    const holds = await Promise.all(Array.from({ length: 20 }, () => hold([one], 100n)));
    expect(holds.filter(({ isHeld }) => isHeld)).toHaveLength(6);
    expect(bench.asked.slice(before)).toEqual([one.name]);
  });

  test('amounts spent and held before a limit was set count against it', async () => {
    const balance = meter(1_000n);
    const quota = meter(unlimited);
    const limited = (limit: bigint) => [balance, { ...quota, limit }];
    for (const spent of [10n, 30n]) {
      const id = fresh('request');
      expect(await hold([balance, quota], 50n, { id })).toEqual({ isHeld: true, amount: 50n });
      bench.money.commitHold(id, spent);
    }
    expect(await hold(limited(40n), 1n)).toEqual({ isHeld: false, denied: quota.name });
    const underWay = fresh('request');
    await hold([balance, quota], 25n, { id: underWay });
    expect(await hold(limited(65n), 1n)).toEqual({ isHeld: false, denied: quota.name });
    expect(await hold(limited(70n), 100n)).toEqual({ isHeld: true, amount: 5n });
    bench.money.commitHold(underWay, 20n);
    expect(await read(quota)).toEqual({ spentAmount: 60n, heldAmount: 5n });
    // A later process knows of it too, by what has been written of it.
    for (const { name } of [balance, quota]) bench.spent.set(name, 60n);
    const another = bench.another();
    const request = { amount: 9n, expiresAt: bench.clock.wall + minute };
    expect(await another.hold({ ...request, id: fresh('request'), meters: limited(60n) })).toEqual({
      isHeld: false,
      denied: quota.name,
    });
    expect(
      await another.hold({ ...request, id: fresh('request'), meters: [balance, quota] }),
    ).toEqual({ isHeld: true, amount: 9n });
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
          isHeld ? { isHeld: true, amount: held } : { isHeld: false, denied: one.name },
        );
        expect(await read(one)).toEqual({ spentAmount: spent, heldAmount: isHeld ? held : 0n });
        bench.money.commitHold(id, 1n);
        expect(await read(one)).toEqual({
          spentAmount: isHeld ? spent + 1n : spent,
          heldAmount: 0n,
        });
      }),
      { numRuns: 300 },
    );
  });

  test('what a short hold cost beyond itself is not admitted again when other holds end', async () => {
    const one = meter(100n);
    const [wide, short, next, last] = ['wide', 'short', 'next', 'last'].map(fresh) as [
      string,
      string,
      string,
      string,
    ];
    await hold([one], 60n, { id: wide });
    expect(await hold([one], 60n, { id: short })).toEqual({ isHeld: true, amount: 40n });
    bench.money.commitHold(short, 70n);
    // A request for another meter is the first to say that the short hold has ended.
    await hold([meter(100n)], 1n);
    bench.money.commitHold(wide, 0n);
    expect(await hold([one], 25n, { id: next })).toEqual({ isHeld: true, amount: 25n });
    expect(await hold([one], 10n, { id: last })).toEqual({ isHeld: true, amount: 5n });
  });
});

test('a task that ends while its meters are being read counts once', async () => {
  const read = Promise.withResolvers<void>();
  const stored = { spent: 0n, held: 5n };
  /** What the database has when it is asked. */
  const readOf = (sum: 'spent' | 'held') => async () => {
    const found = new Map([['balance', stored[sum]]]);
    await read.promise;
    return found;
  };
  const money = createMemoryMoney({
    now: () => 0,
    monotonic: () => 0,
    spentSource: readOf('spent'),
    heldSource: readOf('held'),
  });
  const meters = [{ name: 'balance', limit: 10n, floor: 1n }];
  const held = money.hold({ id: 'chat', amount: 5n, meters, expiresAt: minute });
  const ended = money.taskEnding(['balance']).then(() => {
    Object.assign(stored, { spent: 2n, held: 0n });
    money.taskEnded({ meters: ['balance'], heldAmount: 5n, cost: 2n });
  });
  read.resolve();
  expect(await held).toEqual({ isHeld: true, amount: 5n });
  await ended;
  expect(await money.read('balance')).toEqual({ spentAmount: 2n, heldAmount: 5n });
  const task = { id: 'task', amount: 4n, isExact: true, meters, expiresAt: minute };
  expect(await money.hold(task)).toEqual({ isHeld: false, denied: 'balance' });
  expect(await money.hold({ ...task, id: 'less', amount: 3n })).toEqual({
    isHeld: true,
    amount: 3n,
  });
});

test('a hold that has expired does not become that of a task', async () => {
  const clock = new TestClock();
  const money = createMemoryMoney({
    now: () => clock.wall,
    monotonic: () => clock.monotonic,
    spentSource: async () => new Map(),
  });
  const meters = [{ name: 'balance', limit: 10n, floor: 1n }];
  await money.hold({
    id: 'task',
    amount: 5n,
    isExact: true,
    meters,
    expiresAt: clock.wall + 1_000,
  });
  clock.advance(3_000);
  expect(() => money.taskBeginning('task', ['balance'])).toThrow('unavailable');
});
