import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exactLimit, SlidingWindow } from './sliding-window.ts';

const span = 60_000;

/** What a random history of requests did: each is counted when there is no wait. */
function run(limit: number, gaps: readonly number[]) {
  const window = new SlidingWindow(span);
  const times: number[] = [];
  const refusals: { readonly at: number; readonly wait: number }[] = [];
  let now = 0;
  for (const gap of gaps) {
    now += gap;
    const wait = window.wait(limit, now);
    if (wait > 0) refusals.push({ at: now, wait });
    else {
      window.add(limit, now);
      times.push(now);
    }
  }
  return { window, times, refusals, now };
}

const within = (times: readonly number[], end: number, length: number): number =>
  times.filter((time) => time <= end && end - time < length).length;

describe('a sliding window', () => {
  const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat(100), fc.nat(30_000)), { maxLength: 200 });

  test('P-14: never admits more than the limit in any span; a refusal means that it is reached', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), gaps, (limit, gaps) => {
        const { times, refusals } = run(limit, gaps);
        for (const end of times) expect(within(times, end, span)).toBeLessThanOrEqual(limit);
        for (const { at } of refusals) expect(within(times, at, span)).toBe(limit);
      }),
      { numRuns: 500 },
    );
  });

  test('keeps a limit that rises and falls between requests', () => {
    const steps = fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 12 })), {
      maxLength: 150,
    });
    fc.assert(
      fc.property(steps, (steps) => {
        const window = new SlidingWindow(span);
        const times: number[] = [];
        let now = 0;
        for (const [gap, limit] of steps) {
          now += gap;
          const isFree = within(times, now, span) < limit;
          expect(window.wait(limit, now) === 0).toBe(isFree);
          if (!isFree) continue;
          window.add(limit, now);
          times.push(now);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('above 2 048 any span holds at most the limit, and 63 64ths of it are never refused', () => {
    const limit = exactLimit + 52;
    const bursts = fc.array(fc.tuple(fc.nat(20_000), fc.integer({ min: 1, max: 900 })), {
      maxLength: 25,
    });
    fc.assert(
      fc.property(bursts, (bursts) => {
        const gaps = bursts.flatMap(([gap, many]) => [gap, ...Array<number>(many).fill(0)]);
        const { window, times, refusals, now } = run(limit, gaps);
        for (const end of new Set(times)) {
          expect(within(times, end, span)).toBeLessThanOrEqual(limit);
        }
        for (const at of new Set(refusals.map(({ at }) => at))) {
          expect(within(times, at, (span * 65) / 64)).toBeGreaterThanOrEqual(limit);
        }
        const wait = Math.ceil(window.wait(limit, now));
        if (wait > 0) expect(window.wait(limit, now + wait)).toBe(0);
      }),
      { numRuns: 60 },
    );
  });

  test('treats a clock that goes backwards as stopped', () => {
    const window = new SlidingWindow(span);
    window.add(1, 100_000);
    expect(window.wait(1, 0)).toBe(span);
    expect(window.wait(1, 160_000)).toBe(0);
  });
});
