import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatUsd, parseUsd } from '#database/index.ts';

const amounts = fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n });

it('returns every amount that a column can hold', () => {
  fc.assert(fc.property(amounts, (amount) => parseUsd(formatUsd(amount)) === amount));
});

it('adds like the numbers it writes', () => {
  const small = fc.bigInt({ min: 0n, max: 2n ** 62n - 1n });
  fc.assert(
    fc.property(small, small, (left, right) => {
      const sum = parseUsd(formatUsd(left)) + parseUsd(formatUsd(right));
      expect(formatUsd(sum)).toBe(formatUsd(left + right));
    }),
  );
});

it.each([
  ['10.00', 10_000_000_000n, '10'],
  ['0.000000001', 1n, '0.000000001'],
  ['-1.25', -1_250_000_000n, '-1.25'],
  ['0.1', 100_000_000n, '0.1'],
  ['1.0000000000', 1_000_000_000n, '1'],
  ['-0', 0n, '0'],
])('reads %s', (text, amount, formatted) => {
  expect(parseUsd(text)).toBe(amount);
  expect(formatUsd(amount)).toBe(formatted);
});

it.each(['', '.5', '1.', '1e3', '+1', ' 1', '1,5', '0.0000000001', '9223372037', 'NaN', '١'])(
  'refuses %j',
  (text) => {
    expect(() => parseUsd(text)).toThrow(RangeError);
  },
);
