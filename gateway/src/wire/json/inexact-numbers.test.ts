import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsInexactNumbers } from './inexact-numbers.ts';

const holds = (text: string, below?: number) => holdsInexactNumbers(Buffer.from(text), below);

describe('numbers that change when they are parsed and written', () => {
  test.each(['1.0', '-0', '1e400', '1E5', '9007199254740993', '0.10000000000000000555', '-0.0'])(
    '%s is one',
    (number) => {
      expect(holds(`{"a":${number}}`)).toBe(true);
      expect(holds(`{"a":[1, ${number} ]}`)).toBe(true);
      expect(holds(`{"${number}":"${number}, \\"${number}"}`)).toBe(false);
    },
  );

  test.each(['0', '-1', '0.5', '9007199254740991', '1e+21', '-0.25', 'true', 'null', '"x"'])(
    '%s is not',
    (value) => expect(holds(`{"a":${value},"b":[${value}]}`)).toBe(false),
  );

  test('count from a depth on', () => {
    expect(holds('{"temperature":1.0}', 1)).toBe(false);
    expect(holds('{"a":{"temperature":1.0}}', 1)).toBe(true);
    expect(holds('{"a":{},"temperature":1.0}', 1)).toBe(false);
    expect(holds('1.0')).toBe(false);
    expect(holds('1.0', -1)).toBe(true);
  });

  test('are not searched if there are too many values', () => {
    const list = (length: number) => `[${Array.from({ length }, () => '1.0').join(',')}]`;
    expect(holds(list(19_000))).toBe(true);
    expect(holds(list(21_000))).toBe(false);
    expect(holds(`[1.0${',{}'.repeat(10_001)}]`)).toBe(false);
  });

  test('do not occur in the gateway’s own output, and truncated text does no harm', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, length) => {
        const text = JSON.stringify(JSON.parse(JSON.stringify(value)));
        expect(holds(text, -1)).toBe(false);
        holds(text.slice(0, length), -1);
      }),
    );
  });
});
