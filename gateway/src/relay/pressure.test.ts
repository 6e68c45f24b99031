import { expect, test } from 'vitest';
import { createPressure } from './pressure.ts';

test('R-24 pressure is lag that lasts for two seconds, or a heap that is nearly full', () => {
  let lag = 0;
  let heap = 0.5;
  const pressure = createPressure({
    takeLag: () => lag,
    heapShare: () => heap,
    memoryShare: () => 0,
    isIdle: () => false,
  });
  const sample = (now: number): boolean => {
    pressure.sample(now);
    return pressure.isHigh;
  };
  expect(sample(0)).toBe(false);
  lag = 201;
  expect([500, 1_000, 2_000].map(sample)).toEqual([false, false, false]);
  // Once in between it was well.
  lag = 200;
  expect(sample(2_400)).toBe(false);
  lag = 5_000;
  expect([2_500, 4_499, 4_500].map(sample)).toEqual([false, false, true]);
  lag = 3;
  expect(sample(5_000)).toBe(false);
  heap = 0.91;
  expect(sample(5_500)).toBe(true);
  heap = 0.9;
  expect(sample(6_000)).toBe(false);
});

test('memory outside the heap is pressure too, unless nothing is under way', () => {
  let memory = 0.9;
  let isIdle = false;
  const pressure = createPressure({
    takeLag: () => 0,
    heapShare: () => 0.5,
    memoryShare: () => memory,
    isIdle: () => isIdle,
  });
  const sample = (): boolean => {
    pressure.sample(0);
    return pressure.isHigh;
  };
  expect(sample()).toBe(false);
  memory = 0.91;
  expect(sample()).toBe(true);
  isIdle = true;
  expect(sample()).toBe(false);
});
