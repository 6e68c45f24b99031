import { describe, expect, it } from 'vitest';
import { exact, plus, rounded, times, toText } from './exact.ts';

describe('exact decimals', () => {
  it.each([
    ['0.0000002', '9', '0.0000018'],
    ['0.00000375', '2317', '0.00868875'],
    ['-1.5', '2', '-3'],
  ])('%s × %s is %s', (a, b, product) => {
    expect(toText(times(exact(a), exact(b)))).toBe(product);
  });

  it('adds numbers of different lengths', () => {
    expect(toText(plus(exact('0.1'), exact('0.025')))).toBe('0.125');
  });

  it.each([
    ['0.0420812475', '0.042081248'],
    ['0.0000000005', '0'],
    ['0.0000000015', '0.000000002'],
    ['0.0000000025', '0.000000002'],
    ['-0.0000000015', '-0.000000002'],
    ['12', '12'],
  ])('rounds %s to %s', (text, result) => {
    expect(toText(rounded(exact(text), 9))).toBe(result);
  });

  it('keeps as many places as asked for', () => {
    expect(toText(rounded(exact('0.5'), 9), 9)).toBe('0.500000000');
  });

  it.each(['', '1e3', '1.', '.5', '1,000'])('refuses %j', (text) => {
    expect(() => exact(text)).toThrow(SyntaxError);
  });
});
