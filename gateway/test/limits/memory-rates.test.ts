import { expect, test } from 'vitest';
import { createMemoryRates } from '#limits/index.ts';

test('without Redis each of several nodes enforces its share, and reports it for an hour', () => {
  let nodes = 1;
  let now = 0;
  let count = 0;
  const rates = createMemoryRates({ monotonic: () => now, liveNodes: () => nodes });
  const limits = [{ name: 'rate', limit: 10, windowMs: 60_000 }];
  const admitted = (tries: number): number => {
    let total = 0;
    for (let at = 0; at < tries; at += 1) {
      const decision = rates.checkRates({ id: `request-${(count += 1)}`, limits });
      if (!(decision instanceof Promise) && decision.admitted) total += 1;
    }
    return total;
  };
  expect(admitted(4)).toBe(4);
  expect(rates.degraded).toEqual([]);
  nodes = 2;
  // Nobody has asked for a rate since.
  expect(rates.degraded).toEqual([]);
  expect(admitted(10)).toBe(1);
  const words = ['2 nodes without redis: each enforces its share of every rate'];
  expect(rates.degraded).toEqual(words);
  now += 3_599_999;
  expect(rates.degraded).toEqual(words);
  now += 1;
  expect(rates.degraded).toEqual([]);
});
