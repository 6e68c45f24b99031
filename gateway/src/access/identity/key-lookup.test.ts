import { expect, test } from 'vitest';
import { createKeyLookup, createNegativeCache } from './key-lookup.ts';

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

test('S-43: few invented keys wait for a database that may be restarting', async () => {
  let now = 0;
  const restarted = Promise.withResolvers<never[]>();
  const lookup = createKeyLookup({
    database: {} as never,
    breaker: <Result>() => restarted.promise as Promise<Result>,
    now: () => now,
    changes: () => 0,
  });
  const found = [lookup.find('first')];
  now = 501;
  for (let at = 0; at < 500; at += 1) found.push(lookup.find(`hash-${at}`));
  await expect(lookup.find('one-too-many')).rejects.toThrow('too many');
  restarted.resolve([]);
  expect(new Set(await Promise.all(found))).toEqual(new Set([null]));
});

test('a missing key is looked up again after its time, and not before', () => {
  const cache = createNegativeCache({ lifetime: 10_000, max: 10 });
  cache.add('a', 5_000);
  expect(cache.has('a', 14_999)).toBe(true);
  expect(cache.has('a', 15_000)).toBe(false);
  expect(cache.size).toBe(0);
});
