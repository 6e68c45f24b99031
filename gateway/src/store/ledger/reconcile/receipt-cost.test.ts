import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseMultiplier, receiptOf } from '#billing/cost.ts';
import { receiptCost } from './receipt-cost.ts';

const perMillion = (usd: number) => String(BigInt(Math.round(usd * 1e9)));

describe('the cost of a receipt', () => {
  it.each([
    [1, 2n],
    [2, 5n],
    [3, 8n],
    [5, 12n],
    [7, 18n],
  ])('B-01d %d tokens at $0.0025 per million: %d', (quantity, cost) => {
    expect(receiptCost([{ quantity, rate: perMillion(0.0025) }], '1')).toBe(cost);
  });

  it('B-01a, B-01e, and seconds with a fraction', () => {
    const items = [
      { quantity: 3, rate: perMillion(3) },
      { quantity: 12_304, rate: perMillion(3.75) },
      { quantity: 550, rate: perMillion(15) },
    ];
    expect(receiptCost(items, '1')).toBe(54_399_000n);
    expect(receiptCost([{ quantity: 1, rate: perMillion(0.02) }], '0.16')).toBe(3n);
    expect(receiptCost([{ quantity: 4.125, rate: '80000000000000' }], '1')).toBe(330_000_000n);
  });

  it('refuses anything that is not an amount', () => {
    expect(() => receiptCost([{ quantity: -1, rate: '1' }], '1')).toThrow(RangeError);
    expect(() => receiptCost([{ quantity: 1, rate: '1.x' }], '1')).toThrow(RangeError);
    expect(() => receiptCost([{ quantity: 1, rate: '1' }], 'x')).toThrow(RangeError);
  });

  it('equals billing’s result for the same items', () => {
    const line = fc
      .record({
        quantity: fc.integer({ min: 0, max: 2_000_000 }),
        perUnit: fc.bigInt({ min: 0n, max: 10n ** 15n }),
        inThousandths: fc.boolean(),
      })
      .map(({ quantity, perUnit, inThousandths }) => ({
        rate: { part: 'x', perUnit, text: String(perUnit), inThousandths },
        quantity,
      }));
    const multiplier = fc.integer({ min: 0, max: 10_000_000 }).map((millionths) => {
      const digits = String(millionths).padStart(7, '0');
      return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
    });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), multiplier, (lines, by) => {
        const { items, cost } = receiptOf(lines, parseMultiplier(by));
        expect(receiptCost(items, by)).toBe(cost);
      }),
    );
  });
});
