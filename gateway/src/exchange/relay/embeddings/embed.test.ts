import { describe, expect, test } from 'vitest';
import { ratesOf } from '#billing/index.ts';
import { embeddings } from '#protocols/index.ts';
import { boundEmbed, measureEmbed, measureLeftEmbed } from './measure-embed.ts';

const rates = ratesOf({ input: '1' });
const window = { contextWindow: 100, maxOutputTokens: null };

function requestOf(input: unknown) {
  const body = Buffer.from(JSON.stringify({ model: 'm', input }));
  return embeddings.readRequest(embeddings.openRequest(body));
}

describe('the bound', () => {
  const boundOf = (input: unknown, model = window) => {
    const lines = boundEmbed(requestOf(input), model, rates);
    expect(lines.map(({ rate }) => rate.part)).toEqual(['input']);
    return lines[0]?.quantity;
  };
  const around = '{"model":"m","input":}'.length;

  test.each([
    ['a text', 'a'.repeat(100), Math.ceil((around + 102) / 2)],
    ['a list of tokens', Array(1000).fill(50_000), 1000 + around / 2],
    ['lists of tokens', [[1, 2], [3]], 3 + around / 2],
    ['texts beside tokens', ['a', [1, 2]], Math.ceil((around + 11) / 2)],
    ['two objects', [{ a: 1 }, { a: 2 }], 200],
    [
      'an object that says more than a window',
      { a: 'a'.repeat(400) },
      Math.ceil((around + 408) / 2),
    ],
  ])('of %s', (_, input, tokens) => {
    expect(boundOf(input)).toBe(BigInt(tokens));
  });

  test('of an object for a model without a window is a usual one', () => {
    expect(boundOf({ a: 1 }, { ...window, contextWindow: null as never })).toBe(200_000n);
  });

  test('throws at a price without input', () => {
    const output = ratesOf({ output: '1' });
    expect(() => boundEmbed(requestOf('a'), window, output)).toThrow(RangeError);
  });
});

describe('the measure', () => {
  const prepared = (input: unknown) => ({ request: requestOf(input), model: window as never });
  const usage = (input: number, isImplausible = false) =>
    embeddings.readResponse(
      Buffer.from(
        JSON.stringify({ data: [], usage: { prompt_tokens: isImplausible ? 2 ** 50 : input } }),
      ),
      { clientModel: 'm', upstreamModel: 'm' },
    ).usage;
  const reported = (input: number) => ({ usage: usage(input), isEmpty: false });

  test('is what was reported', () => {
    const measured = measureEmbed(reported(7), prepared('a'), 'error');
    expect(measured).toMatchObject({ source: 'reported', tokens: { input: 7, output: 0 } });
    expect(measured?.lines(rates)).toEqual([{ rate: rates.input, quantity: 7 }]);
  });

  test('is believed up to 1.2 windows for each item', () => {
    const sourceOf = (input: unknown, tokens: number) =>
      measureEmbed(reported(tokens), prepared(input), 'error')?.source;
    const long = 'a'.repeat(500);
    expect(sourceOf(long, 120)).toBe('reported');
    expect(sourceOf(long, 121)).toBe('quarantined');
    expect(sourceOf([long, long, long], 360)).toBe('reported');
    expect(sourceOf([long, long, long], 361)).toBe('quarantined');
    expect(sourceOf([{ image: 'a' }], 120)).toBe('reported');
    expect(
      measureEmbed({ usage: usage(0, true), isEmpty: false }, prepared('a'), 'error')?.source,
    ).toBe('quarantined');
  });

  test.each([
    ['a text', 'a', 3 + 64],
    ['texts', ['a', 'b'], 9 + 2 * 64],
    ['tokens', [1, 2, 3], 3 + 64],
    ['lists of tokens', [[1], [2, 3]], 3 + 2 * 64],
  ])('of %s is believed up to a token per byte, and some for each item', (_, input, most) => {
    const wide = { ...prepared(input), model: { contextWindow: 8_192 } as never };
    expect(measureEmbed(reported(most), wide, 'error')?.source).toBe('reported');
    expect(measureEmbed(reported(most + 1), wide, 'error')?.source).toBe('quarantined');
  });

  test.each([
    ['estimate', { source: 'estimated', tokens: { input: 26 } }],
    ['zero', { source: 'none', tokens: { input: 0 } }],
    ['error', null],
  ] as const)('without a report is what the policy says: %s', (policy, expected) => {
    const measured = measureEmbed(
      { usage: null, isEmpty: false },
      prepared('a'.repeat(100)),
      policy,
    );
    if (expected === null) expect(measured).toBeNull();
    else expect(measured).toMatchObject(expected);
  });

  test('without a report is exact for tokens, and nothing for no vectors', () => {
    const none = { usage: null, isEmpty: false };
    expect(measureEmbed(none, prepared([[1, 2], [3]]), 'estimate')?.tokens.input).toBe(3);
    expect(measureEmbed({ ...none, isEmpty: true }, prepared('a'), 'estimate')?.source).toBe(
      'none',
    );
  });

  test.each([
    [{ isSent: false, status: null }, 'none'],
    [{ isSent: true, status: 500 }, 'none'],
    [{ isSent: true, status: null }, 'estimated'],
    [{ isSent: true, status: 200 }, 'estimated'],
  ])('of a client that left, %j, is %s', (left, source) => {
    expect(measureLeftEmbed(left, prepared('a')).source).toBe(source);
  });
});
