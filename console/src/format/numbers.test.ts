import { expect, it } from 'vitest';
import { createFormats } from './numbers.ts';

const formats = createFormats('en', 'UTC');

it.each([
  [12, '12 ms'],
  [420, '0.42 s'],
  [6_097, '6.10 s'],
  [12_340, '12.3 s'],
  [125_000, '2 min 05 s'],
])('shows %d ms as %s', (milliseconds, text) => {
  expect(formats.duration(milliseconds)).toBe(text);
});

it.each([
  [0.961, '96'],
  [0.995, '99.5'],
  [0.99999, '99.9'],
  [0.0123, '1.2'],
  [1, '100'],
  [0, '0'],
])('shows a share of %d as %s percent', (share, text) => {
  expect(formats.percent(share)).toBe(text);
});

it('shows the day of a time that is not today', () => {
  expect(formats.time('2020-11-24T19:04:31.482Z')).toBe('Nov 24 19:04:31');
});
