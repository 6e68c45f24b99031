import { expect, test } from 'vitest';
import { createNegativeCache } from './key-lookup.ts';

test(
  'S-43: a million invented keys leave no more than the limit behind',
  { timeout: 120_000 },
  () => {
    const cache = createNegativeCache({ lifetime: 10_000, max: 1_000 });
    for (let at = 0; at < 1_000_000; at += 1) cache.add(`hash-${at}`, at / 1_000);
    expect(cache.size).toBe(1_000);
    expect(cache.has('hash-999999', 1_000)).toBe(true);
    expect(cache.has('hash-999000', 1_000)).toBe(true);
    expect(cache.has('hash-998999', 1_000)).toBe(false);
  },
);

test('a missing key is looked up again after its time, and not before', () => {
  const cache = createNegativeCache({ lifetime: 10_000, max: 10 });
  cache.add('a', 5_000);
  expect(cache.has('a', 14_999)).toBe(true);
  expect(cache.has('a', 15_000)).toBe(false);
  expect(cache.size).toBe(0);
});
