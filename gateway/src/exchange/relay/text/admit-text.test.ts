import { describe, expect, test } from 'vitest';
import { type Hold, parseMultiplier, ratesOf } from '#billing/index.ts';
import type { Model } from '#catalogue/index.ts';
import { readWireText } from '#test/support/convert.ts';
import { requestBoundsOf } from './admit-text.ts';

const inputTokens = 1_000;
const body = Buffer.from('{"model":"m","messages":[{"role":"user","content":"a"}]}');
const asked = (more = '') => ({
  request: readWireText('chat', String(body).replace('}]}', `}]${more}}`)),
  inputTokens,
  model: { id: 'm' } as Model,
  routes: [],
  terms: [],
});

/** A token costs a micro-dollar, in and out: the money pays for so many tokens. */
const holdFor = (tokens: number, isShort: boolean) =>
  ({
    isShort,
    amount: BigInt(tokens) * 1_000n,
    rates: ratesOf({ input: '1', output: '1' }),
    multiplier: parseMultiplier('1'),
  }) as Hold;

describe('the cap', () => {
  test.each([
    ['what is left beside the input', holdFor(1_500, true), true, '', 500],
    ['of each choice', holdFor(1_600, true), true, ',"n":2', 300],
    ['none if it is enough', holdFor(1_500, false), true, '', null],
    ['none without a hold', null, true, '', null],
    ['none if it is not allowed', holdFor(1_500, true), false, '', null],
    ['the least that is worth an answer', holdFor(1_256, true), true, '', 256],
    ['none if less is left', holdFor(1_255, true), true, '', null],
    ['none if nothing is left', holdFor(900, true), true, '', null],
  ])('is %s', (_what, hold, mayCap, more, cap) => {
    expect(requestBoundsOf(hold, { body }, asked(more), mayCap).cap).toBe(cap);
  });
});

test.each([
  ['a text', '"b"', body.length + 4_096],
  ['a picture', '[{"type":"image_url","image_url":{"url":"https://e.com/a.png"}}]', Infinity],
  ['what is not known', '[{"type":"thing"}]', Infinity],
])('the bytes bound the input of %s', (_what, content, mostInput) => {
  const request = readWireText(
    'chat',
    `{"model":"m","messages":[{"role":"user","content":${content}}]}`,
  );
  expect(requestBoundsOf(null, { body }, { ...asked(), request }, true).mostInput).toBe(mostInput);
});

test('the bytes do not bound the input of hosted tools', () => {
  const searching = asked(',"tools":[{"type":"web_search"}]');
  expect(requestBoundsOf(null, { body }, searching, true).mostInput).toBe(Infinity);
});
