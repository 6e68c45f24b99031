import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HoldDecision, Meter } from '#limits/index.ts';
import { dialects, isSkipped } from '../database/databases.ts';
import { openMoneyBench, type MoneyBench } from './money-benches.ts';

const minute = 60_000;

/* What one process promises of money, whoever it leases from: its own memory beside SQLite, or PostgreSQL. */
describe.each(dialects)('money of a process on %s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('is held so that', () => {
    let bench: MoneyBench;
    let count = 0;
    beforeAll(async () => {
      bench = await openMoneyBench(dialect);
    });
    afterAll(() => bench.close());

    const fresh = (kind: string): string => `${kind}-${(count += 1)}`;
    const meter = (limit: bigint, floor = 1n): Meter => ({
      name: `user:${fresh('usr')}:balance`,
      limit,
      floor,
    });
    const hold = async (
      meters: readonly Meter[],
      amount: bigint,
      { id = fresh('request'), forMs = minute } = {},
    ): Promise<HoldDecision> => {
      for (const one of meters) await bench.limitTo(one);
      return bench.money.hold({ id, amount, meters, expiresAt: bench.clock.wall + forMs });
    };
    const release = (id: string) => bench.money.commitHold(id, 0n);
    /** A meter of which nothing is leased may be unknown. */
    const read = async ({ name }: Meter) =>
      (await bench.money.read(name)) ?? { spentAmount: 0n, heldAmount: 0n };

    test.each([2, 10, 200])(
      'B-10, B-11: of %i at once with money for one, one is admitted',
      async (many) => {
        const meters = [meter(10n ** 12n), meter(900n), meter(5_000n)];
        const decisions = await Promise.all(
          Array.from({ length: many }, () => hold(meters, 1_000n)),
        );
        expect(decisions.filter(({ isHeld }) => isHeld)).toEqual([{ isHeld: true, amount: 900n }]);
        const refused = decisions.filter(({ isHeld }) => !isHeld);
        expect(refused).toHaveLength(many - 1);
        for (const refusal of refused)
          expect(refusal).toEqual({ isHeld: false, denied: meters[1]!.name });
        expect(await read(meters[0]!)).toEqual({ spentAmount: 0n, heldAmount: 900n });
      },
    );

    test('K36: of 50 at once that hold 100 against a quota of 1000, ten are admitted', async () => {
      const quota = meter(1_000n);
      const decisions = await Promise.all(Array.from({ length: 50 }, () => hold([quota], 100n)));
      expect(decisions.filter(({ isHeld }) => isHeld)).toHaveLength(10);
      expect(await read(quota)).toEqual({ spentAmount: 0n, heldAmount: 1_000n });
    });

    test('B-11, B-12: the first exhausted meter is named, and nothing is held on any', async () => {
      const meters = [meter(100n), meter(0n), meter(0n)];
      expect(await hold(meters, 50n)).toEqual({ isHeld: false, denied: meters[1]!.name });
      expect(await read(meters[0]!)).toEqual({ spentAmount: 0n, heldAmount: 0n });
    });

    test('P-05: one request at a time may cost more than it holds, whatever is freed meanwhile', async () => {
      const quota = meter(1_000n);
      const [large, short] = [fresh('request'), fresh('request')];
      expect(await hold([quota], 990n, { id: large })).toMatchObject({ isHeld: true });
      expect(await hold([quota], 300n, { id: short })).toEqual({ isHeld: true, amount: 10n });
      release(large);
      // All but the crumb is free again: for what fits, not for the next one to leave a crumb.
      expect(await hold([quota], 985n, { id: fresh('request') })).toMatchObject({ isHeld: true });
      expect(await hold([quota], 300n)).toEqual({ isHeld: false, denied: quota.name });
      expect(await hold([quota], 2n)).toEqual({ isHeld: true, amount: 2n });
      release(short);
      expect(await hold([quota], 300n)).toEqual({ isHeld: true, amount: 13n });
    });

    test('P-05: also after its hold has expired', async () => {
      const quota = meter(1_000n);
      await hold([quota], 2_000n, { forMs: 30_000 });
      bench.clock.advance(31_000);
      expect(await hold([quota], 2_000n)).toEqual({ isHeld: true, amount: 1_000n });
    });

    test('B-13: released money is available to the next request at once', async () => {
      const meters = [meter(100n)];
      for (let round = 0; round < 20; round += 1) {
        const id = fresh('request');
        expect(await hold(meters, 500n, { id })).toEqual({ isHeld: true, amount: 100n });
        expect(await hold(meters, 1n)).toMatchObject({ isHeld: false });
        release(id);
      }
    });

    test('B-22: 0.0099 USD is too little for a balance, 0.01 is enough', async () => {
      const floor = 10_000_000n;
      expect(await hold([meter(9_900_000n, floor)], 1n)).toMatchObject({ isHeld: false });
      expect(await hold([meter(10_000_000n, floor)], 1n)).toEqual({ isHeld: true, amount: 1n });
    });

    test('a credit counts at once, also right after a refusal', async () => {
      const poor = meter(10n);
      await hold([poor], 10n);
      expect(await hold([poor], 10n)).toMatchObject({ isHeld: false });
      expect(await hold([{ ...poor, limit: 30n }], 15n)).toEqual({ isHeld: true, amount: 15n });
    });

    test('a limit below the spent amount admits no hold', async () => {
      const overdrawn = meter(-5n);
      expect(await hold([overdrawn], 1n)).toMatchObject({ isHeld: false });
    });

    test('P-08: a hold expires in time; later spending counts, once', async () => {
      const one = meter(1_000n);
      const id = fresh('request');
      await hold([one], 600n, { id, forMs: 30_000 });
      bench.clock.advance(29_000);
      expect(await read(one)).toEqual({ spentAmount: 0n, heldAmount: 600n });
      bench.clock.advance(1_000);
      expect(await read(one)).toEqual({ spentAmount: 0n, heldAmount: 0n });
      await bench.charge(id, [one], 250n);
      for (let replay = 0; replay < 100; replay += 1) bench.money.commitHold(id, 250n);
      expect(await read(one)).toEqual({ spentAmount: 250n, heldAmount: 0n });
    });

    test('spending beyond the hold counts in full, and then nothing is left', async () => {
      const one = meter(1_000n);
      const id = fresh('request');
      await hold([one], 900n, { id });
      await bench.charge(id, [one], 1_200n);
      expect(await read(one)).toEqual({ spentAmount: 1_200n, heldAmount: 0n });
      expect(await hold([one], 1n)).toMatchObject({ isHeld: false });
    });

    test('R-32: a clock set back does not end a hold early', async () => {
      const one = meter(1_000n);
      await hold([one], 1_000n, { forMs: 30_000 });
      bench.clock.wall -= 3_600_000;
      bench.clock.advance(29_000);
      expect(await hold([one], 1n)).toMatchObject({ isHeld: false });
    });
  });
});
