import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRange } from './byte-range.ts';

test.each([
  [undefined, null],
  ['bytes=0-', { from: 0, to: 99 }],
  ['bytes=0-0', { from: 0, to: 0 }],
  ['bytes=90-200', { from: 90, to: 99 }],
  ['bytes=-1', { from: 99, to: 99 }],
  ['bytes=-200', { from: 0, to: 99 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  ['bytes=5-4', null],
  ['bytes=-', null],
  ['bytes=0-1,5-6', null],
  ['lines=0-1', null],
  ['bytes=a-b', null],
] as const)('%s', (header, range) => {
  expect(readRange(header, 100)).toEqual(range);
});

test('nothing of an empty file can be had', () => {
  expect(readRange('bytes=0-', 0)).toBe('unsatisfiable');
  expect(readRange('bytes=-5', 0)).toBe('unsatisfiable');
});

test('a range is always inside the file', () => {
  const part = fc.oneof(fc.constant(''), fc.nat().map(String));
  fc.assert(
    fc.property(part, part, fc.nat({ max: 1_000 }), (first, last, size) => {
      const range = readRange(`bytes=${first}-${last}`, size);
      if (range === null || range === 'unsatisfiable') return;
      expect(range.from).toBeGreaterThanOrEqual(0);
      expect(range.to).toBeGreaterThanOrEqual(range.from);
      expect(range.to).toBeLessThan(size);
    }),
    { seed: 1 },
  );
});
