import { expect, test } from 'vitest';
import { axisLabel, niceTop } from './scale.ts';

test.each([
  [0, 0],
  [0.000_3, 0.000_4],
  [1, 1],
  [41, 60],
  [99, 100],
  [100, 100],
  [100.5, 200],
])('%s fits below %s', (most, top) => {
  expect(niceTop(most)).toBeCloseTo(top, 12);
});

test.each([
  [0, '0'],
  [0.000_25, '0.00025'],
  [9_999, '10000'],
  [12_000, '12k'],
  [1_500_000, '1.5M'],
])('%s is written as %s', (value, label) => {
  expect(axisLabel(value)).toBe(label);
});
