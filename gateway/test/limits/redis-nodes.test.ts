import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RateLimit, Rates } from '#limits/index.ts';
import { type CountingBench, openBench, redisAnswers } from './implementations.ts';

describe.skipIf(!redisAnswers)('three nodes on one Redis', () => {
  let bench: CountingBench;
  let nodes: Rates[];
  let count = 0;
  beforeAll(async () => {
    bench = await openBench('redis');
    nodes = [bench.rates, await bench.another(), await bench.another()];
  });
  afterAll(() => bench.close());

  const fresh = (kind: string): string => `${kind}-${(count += 1)}`;
  /** Until Redis has heard all that the node has sent. */
  const heard = (node: Rates) =>
    node.checkRates({
      id: fresh('request'),
      limits: [{ name: fresh('key'), limit: 1, windowMs: 1 }],
    });

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
    await heard(nodes[0]!);
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

  test('a node that stood still has its slots again before it admits more', async () => {
    const limits: RateLimit[] = [{ name: fresh('key'), limit: 2, windowMs: 0 }];
    const ask = async (node: Rates) => node.checkRates({ id: fresh('request'), limits });
    const [stopped, other] = [nodes[0]!, nodes[1]!];
    expect(await ask(stopped)).toEqual({ admitted: true });
    bench.clock.advance(60_000);
    expect(await ask(other)).toEqual({ admitted: true });
    expect(await ask(stopped)).toMatchObject({ admitted: false });
    expect(await ask(other)).toMatchObject({ admitted: false });
  });

  test('slots last as long as their requests, and a slot released during the renewal stays released', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const own = await openBench('redis');
    try {
      const [node, other] = [own.rates, await own.another()];
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
        for (let trip = 0; trip < running.length + 10; trip += 1) await heard(node);
      };
      for (let turn = 0; turn < 4; turn += 1) {
        beginRenewal();
        await endRenewal();
      }
      expect(await freeElsewhere()).toBe(0);
      beginRenewal();
      await heard(node);
      for (const { id } of running) node.leave(id);
      await endRenewal();
      expect(await freeElsewhere()).toBe(running.length);
    } finally {
      vi.useRealTimers();
      await own.close();
    }
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
});
