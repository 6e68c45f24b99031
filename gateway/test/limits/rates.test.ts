import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RateLimit } from '#limits/index.ts';
import { type CountingBench, implementations, isSkipped, openBench } from './implementations.ts';

/** Random histories in Redis; `npm run test:money` asks for as many there as in memory. */
const inRedis = Number(process.env['SLUICE_RATE_HISTORIES'] ?? '200');

describe.each(implementations)('in %s', (kind) => {
  describe.skipIf(isSkipped(kind))('rates', () => {
    let bench: CountingBench;
    let ids = 0;
    let names = 0;
    beforeAll(async () => {
      bench = await openBench(kind);
    });
    afterAll(() => bench.close());

    const freshName = (): string => `key:${(names += 1)}:rpm`;
    const rate = (limit: number, windowMs: number): RateLimit => ({
      name: freshName(),
      limit,
      windowMs,
    });
    const slots = (limit: number): RateLimit => rate(limit, 0);
    const admit = async (limits: readonly RateLimit[], id = `request-${(ids += 1)}`) =>
      bench.rates.checkRates({ id, limits });

    test(
      'P-14, L-02, L-03: every history is decided like a list of all times',
      { timeout: 300_000 },
      async () => {
        const step = fc.record({
          wait: fc.nat(20_000),
          uses: fc.subarray([0, 1, 2], { minLength: 1 }),
        });
        await fc.assert(
          fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
            const limits = [rate(2, 10_000), rate(5, 60_000), rate(3, 30_000)];
            const times: number[][] = [[], [], []];
            const { clock } = bench;
            for (const { wait, uses } of steps) {
              clock.advance(wait);
              const waits = uses.map((at) => {
                const { limit, windowMs } = limits[at]!;
                const decisive = times[at]!.at(-limit);
                return decisive === undefined ? 0 : decisive + windowMs - clock.monotonic;
              });
              const used = uses.map((at) => limits[at]!);
              const longest = Math.max(0, ...waits);
              const decision = await admit(used);
              if (longest > 0) {
                const denied = used[waits.findIndex((wait) => wait > 0)]!.name;
                expect(decision).toEqual({ admitted: false, denied, retryAfterMs: longest });
                clock.advance(longest - 1);
                expect(await admit(used)).toMatchObject({ admitted: false, retryAfterMs: 1 });
                clock.advance(1);
                expect(await admit(used)).toEqual({ admitted: true });
              } else {
                expect(decision).toEqual({ admitted: true });
              }
              for (const at of uses) times[at]!.push(clock.monotonic);
            }
          }),
          { numRuns: kind === 'memory' ? 1_000 : inRedis },
        );
      },
    );

    test.each([
      [2_047, 64_000],
      [2_048, 64_000],
      // To the end of the part of the window that they came in.
      [2_049, 64_700],
    ])('of %i at one moment the next is admitted after %i ms', async (limit, wait) => {
      const own = await openBench(kind);
      try {
        const full = [rate(limit, 64_000)];
        const ask = async () => own.rates.checkRates({ id: `request-${(ids += 1)}`, limits: full });
        const fill = async (): Promise<number> => {
          const decisions = await Promise.all(Array.from({ length: limit + 5 }, ask));
          return decisions.filter(({ admitted }) => admitted).length;
        };
        own.clock.advance(300);
        for (let turn = 0; turn < 2; turn += 1) {
          expect(await fill()).toBe(limit);
          expect(await ask()).toMatchObject({ admitted: false, retryAfterMs: wait });
          own.clock.advance(wait - 1);
          expect(await ask()).toMatchObject({ admitted: false, retryAfterMs: 1 });
          // Each turn at the same place of a part.
          own.clock.advance(1);
          expect(await fill()).toBe(limit);
          own.clock.advance(192_000 - wait);
        }
      } finally {
        await own.close();
      }
    });

    test('above 2 048 it is never too much, and a refusal is exact to a 64th of the window', async () => {
      const limit = rate(2_100, 64_000);
      const times: number[] = [];
      const { clock } = bench;
      const inLast = (ms: number): number =>
        times.filter((time) => clock.monotonic - time < ms).length;
      for (let burst = 0; burst < 12; burst += 1) {
        const decisions = await Promise.all(Array.from({ length: 400 }, () => admit([limit])));
        for (const { admitted } of decisions) if (admitted) times.push(clock.monotonic);
        expect(inLast(64_000)).toBeLessThanOrEqual(2_100);
        const refused = decisions.find(({ admitted }) => !admitted);
        if (refused?.admitted !== false) {
          clock.advance(7_300);
          continue;
        }
        expect(inLast(65_000)).toBeGreaterThanOrEqual(2_100);
        clock.advance(refused.retryAfterMs! - 1);
        expect(await admit([limit])).toMatchObject({ admitted: false });
        clock.advance(1);
        expect(await admit([limit])).toEqual({ admitted: true });
        times.push(clock.monotonic);
      }
      expect(times.length).toBeGreaterThan(2_200);
    });

    test('a request refused by one limit counts on none', async () => {
      const [wide, narrow, under] = [rate(2, 60_000), rate(1, 60_000), slots(3)];
      await admit([narrow]);
      expect(await admit([wide, narrow, under])).toMatchObject({ denied: narrow.name });
      expect(await admit([wide])).toEqual({ admitted: true });
      expect(await admit([wide])).toEqual({ admitted: true });
      const full = await Promise.all([admit([under]), admit([under]), admit([under])]);
      expect(full.every(({ admitted }) => admitted)).toBe(true);
      expect(await admit([under])).toMatchObject({ admitted: false, denied: under.name });
    });

    test('a limit of 0 admits nobody, no limit admits everybody', async () => {
      for (const closed of [rate(0, 60_000), slots(0)]) {
        const never = { admitted: false, denied: closed.name, retryAfterMs: null };
        expect(await admit([closed])).toEqual(never);
        // Whatever else is full, no wait would help.
        const full = rate(1, 60_000);
        await admit([full]);
        expect(await admit([full, closed])).toEqual(never);
        bench.clock.advance(60_000);
        expect(await admit([full])).toEqual({ admitted: true });
      }
      expect(await admit([])).toEqual({ admitted: true });
    });

    test.each([1, 2, 10])(
      'of 200 at once exactly %i get a slot; leaving is idempotent',
      async (room) => {
        const limit = slots(room);
        const those = Array.from({ length: 200 }, () => `request-${(ids += 1)}`);
        const decisions = await Promise.all(those.map((id) => admit([limit], id)));
        const inside = those.filter((_, at) => decisions[at]!.admitted);
        expect(inside).toHaveLength(room);
        expect(await admit([limit])).toMatchObject({ admitted: false, retryAfterMs: 1_000 });
        bench.rates.leave(inside[0]!);
        bench.rates.leave(inside[0]!);
        bench.rates.leave('unknown');
        expect(await admit([limit])).toEqual({ admitted: true });
        expect(await admit([limit])).toMatchObject({ admitted: false });
      },
    );

    test('a higher limit takes effect at once, a lower one too', async () => {
      const limit = rate(2, 60_000);
      await admit([limit]);
      await admit([limit]);
      expect(await admit([limit])).toMatchObject({ admitted: false });
      expect(await admit([{ ...limit, limit: 3 }])).toEqual({ admitted: true });
      expect(await admit([{ ...limit, limit: 2 }])).toMatchObject({ admitted: false });
    });

    test('a limit that crosses 2 048 while a window is open keeps earlier admissions', async () => {
      const limit = rate(100, 64_000);
      const admitted = async (of: number, asked = of): Promise<number> => {
        const asking = Array.from({ length: asked }, () => admit([{ ...limit, limit: of }]));
        return (await Promise.all(asking)).filter((decision) => decision.admitted).length;
      };
      expect(await admitted(100)).toBe(100);
      bench.clock.advance(5_000);
      expect(await admitted(2_100)).toBe(2_000);
      expect(await admitted(2_048, 1)).toBe(0);
      expect(await admitted(2_100, 1)).toBe(0);
      // The first hundred have left.
      bench.clock.advance(60_000);
      expect(await admitted(100, 1)).toBe(0);
      expect(await admitted(2_048)).toBe(48);
      expect(await admitted(2_100)).toBe(52);
      bench.clock.advance(65_000);
      expect(await admitted(100, 110)).toBe(100);
    });

    test('P-14: so does every other change, and counting is exact again after one window', async () => {
      const wide = 2_049;
      const another = kind === 'redis' ? await bench.another() : bench.rates;
      const step = fc.record({
        wait: fc.oneof(fc.nat(900), fc.nat(20_000)),
        most: fc.constantFrom(1, 3, 8, wide),
        asked: fc.integer({ min: 1, max: 3 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const { clock, rates } = bench;
          const limit = rate(wide, 64_000);
          const times: number[] = [];
          let wideAt = Number.NEGATIVE_INFINITY;
          const inLast = (ms: number): number =>
            times.filter((time) => clock.monotonic - time < ms).length;
          const ask = async (most: number, node = rates) => {
            if (most === wide) wideAt = clock.monotonic;
            const isExact = clock.monotonic - wideAt >= 65_000;
            const decision = await node.checkRates({
              id: `request-${(ids += 1)}`,
              limits: [{ ...limit, limit: most }],
            });
            if (decision.admitted) {
              expect(inLast(64_000)).toBeLessThan(most);
              times.push(clock.monotonic);
            } else expect(inLast(isExact ? 64_000 : 65_000)).toBeGreaterThanOrEqual(most);
            return decision;
          };
          for (const { wait, most, asked } of steps) {
            clock.advance(wait);
            for (let count = 0; count < asked; count += 1) {
              const decision = await ask(most);
              if (decision.admitted) continue;
              // The first remembers that it was refused.
              expect(await ask(most, another)).toEqual(decision);
              clock.advance(decision.retryAfterMs! - 1);
              expect(await ask(most)).toMatchObject({ admitted: false, retryAfterMs: 1 });
              clock.advance(1);
              expect(await ask(most)).toEqual({ admitted: true });
            }
          }
        }),
        { numRuns: kind === 'memory' ? 1_000 : inRedis },
      );
    });

    test.each([3_600_000, 40 * 86_400_000])(
      'R-32: a clock set back by %i ms grants nothing, and delays nobody for longer than the window',
      async (step) => {
        for (const full of [rate(3, 60_000), rate(2_049, 64_000)]) {
          for (let count = 0; count < full.limit; count += 1) await admit([full]);
          bench.clock.wall -= step;
          expect(await admit([full])).toMatchObject({ admitted: false });
          bench.clock.advance(full.windowMs / 2);
          expect(await admit([full])).toMatchObject({ admitted: false });
          bench.clock.advance(full.windowMs / 2 + 1_000);
          expect(await admit([full])).toEqual({ admitted: true });
        }
      },
    );
  });
});
