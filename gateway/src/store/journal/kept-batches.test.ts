import { expect, test } from 'vitest';
import { createKeptBatches } from './kept-batches.ts';

const place = (id: number, bytes: number) => ({ id, last: id, bytes });
const mebibyte = 2 ** 20;

test('a batch stays for the time, counted from when it was applied', () => {
  const kept = createKeptBatches({ time: 10_000, bytes: 100 * mebibyte }, 0);
  kept.applied(place(1, mebibyte), 0);
  kept.applied(place(2, 2 * mebibyte), 4_000);
  expect(kept.removable(9_999)).toBeNull();
  expect(kept.removable(10_000)).toMatchObject({ id: 1 });
  expect(kept.removable(13_999)).toBeNull();
  expect(kept.removable(14_000)).toMatchObject({ id: 2 });
  expect(kept.removable(20_000)).toBeNull();
});

test('the oldest leave earlier when all of them take too much', () => {
  const kept = createKeptBatches({ time: 10_000, bytes: 3 * mebibyte }, 5 * mebibyte);
  for (let id = 1; id <= 5; id += 1) kept.applied(place(id, (5 + id) * mebibyte), id);
  expect(kept.removable(6)).toMatchObject({ id: 2 });
  kept.applied(place(6, 12 * mebibyte), 7);
  expect(kept.removable(8)).toMatchObject({ id: 4 });
});

test('small batches of the same moment are kept together', () => {
  const kept = createKeptBatches({ time: 10_000, bytes: mebibyte }, 0);
  for (let id = 1; id <= 1_000; id += 1) kept.applied(place(id, id * 10), id);
  expect(kept.removable(10_000)).toBeNull();
  expect(kept.removable(10_001)).toMatchObject({ id: 1_000 });
});

test.each([
  ['within a second', 999, 9, 2],
  ['a second apart', 1_000, 9, 1],
  ['of 256 KiB together', 1, 2 ** 18, 1],
  ['of less together', 1, 2 ** 18 - 1, 2],
])('a second batch %s leaves with the first or later', (_what, at, bytes, first) => {
  const kept = createKeptBatches({ time: 10_000, bytes: mebibyte }, 0);
  kept.applied(place(1, 5), 0);
  kept.applied(place(2, bytes), at);
  expect(kept.removable(10_000)).toMatchObject({ id: first });
});
