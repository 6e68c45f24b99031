import { expect, test } from 'vitest';
import { axisLabel, niceTop, scaleBelow100 } from './scale.ts';

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
  [9_999, '9999'],
  [99.75, '99.75'],
  [12_000, '12k'],
  [1_500_000, '1.5M'],
])('%s is written as %s', (value, label) => {
  expect(axisLabel(value)).toBe(label);
});

test.each([
  [[], 99],
  [[100, 99.4], 99],
  [[100, 97.2], 96],
  [[88, 12], 0],
])('of %j a scale below 100 begins at %s', (values, from) => {
  expect(scaleBelow100(values)).toEqual({ from, to: 100 });
});
