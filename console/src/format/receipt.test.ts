import { describe, expect, it } from 'vitest';
import { receiptOf } from './receipt.ts';

const detail = (values: object) => values as Parameters<typeof receiptOf>[0];

describe('a receipt', () => {
  it('adds up to the charge, rounded once', () => {
    const receipt = receiptOf(
      detail({
        receipt: [
          { part: 'input', quantity: 1_205, price: '0.000003' },
          { part: 'cache_read', quantity: 86_912, price: '0.0000003' },
          { part: 'cache_write', quantity: 2_317, price: '0.00000375' },
          { part: 'output', quantity: 742, price: '0.000015' },
        ],
        multiplier: '0.85',
        cost: '0.042081248',
      }),
    );
    expect(receipt).toMatchObject({
      sum: '0.04950735',
      product: '0.0420812475',
      total: '0.042081248',
      isCapped: false,
    });
    expect(receipt?.lines.map(({ rate, amount }) => [rate, amount])).toEqual([
      ['3.00', '0.003615'],
      ['0.30', '0.0260736'],
      ['3.75', '0.00868875'],
      ['15.00', '0.01113'],
    ]);
  });

  it('counts seconds to the millisecond', () => {
    const receipt = receiptOf(
      detail({
        receipt: [{ part: 'video_second.720P', quantity: 5.04, price: '0.1' }],
        multiplier: '1.5',
        cost: '0.756',
      }),
    );
    expect(receipt).toMatchObject({ total: '0.756', isCapped: false });
    expect(receipt?.lines[0]).toMatchObject({ unit: 'second', rate: '0.10' });
  });

  it('says when less was charged than its lines come to', () => {
    const receipt = receiptOf(
      detail({
        receipt: [{ part: 'output', quantity: 1_000_000, price: '0.00001' }],
        multiplier: '1',
        cost: '0.5',
      }),
    );
    expect(receipt).toMatchObject({ total: '10.00', isCapped: true });
  });

  it('is absent where nothing was charged', () => {
    expect(receiptOf(detail({ receipt: null, multiplier: null, cost: null }))).toBeNull();
  });
});
