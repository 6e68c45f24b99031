import { describe, expect, it, test } from 'vitest';
import type { DeclaredPrice } from '#config/index.ts';
import { parseMultiplier, receiptOf } from './cost.ts';
import { ratesOf } from './rates.ts';
import { repricedCost, rescaledCost } from './reprice.ts';
import { factorOf, iterationMarks, tokenLines, unpricedLines } from './usage-lines.ts';

const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
const tokens = {
  ...none,
  input: 1_234,
  cacheRead: 57,
  cacheWrite: 11,
  output: 789,
  inputAudio: 34,
};
const long = { ...tokens, cacheRead: 300_000 };
/** The prompt is short: what the model writes chooses no tier. */
const wordy = { ...tokens, output: 300_000 };
const multiplier = parseMultiplier('1.25');

const plain: DeclaredPrice = { input: '3', cacheRead: '0.3', output: '15' };
const tiered: DeclaredPrice = { ...plain, tiers: [{ above: 200_000, input: '6', output: '22.5' }] };
const withAudio: DeclaredPrice = { ...plain, inputAudio: '9' };
const surcharged: DeclaredPrice = { ...plain, multipliers: { 'service_tier.priority': '1.7' } };

const chat = (price: DeclaredPrice, counts: typeof tokens, surcharges: readonly string[] = []) => {
  const rates = ratesOf(price);
  const factor = factorOf(rates, surcharges);
  const lines = tokenLines(rates, counts).map((line) =>
    factor === undefined ? line : { ...line, factor },
  );
  return receiptOf([...lines, ...unpricedLines(rates, counts)], multiplier);
};

describe('a receipt at another price costs what the request would have cost then', () => {
  const prices = { plain, tiered, withAudio };
  const pairs = Object.keys(prices).flatMap((from) =>
    Object.keys(prices).flatMap((to) =>
      [tokens, long, wordy].map((counts) => [from, to, counts] as const),
    ),
  );
  it.each(pairs)('%s → %s', (from, to, counts) => {
    const then = chat(prices[from as keyof typeof prices], counts);
    const now = prices[to as keyof typeof prices];
    // Sound that was charged as text is not told apart from text.
    const isUnknown = to === 'withAudio' && from !== to;
    const expected = isUnknown ? null : chat(now, counts).cost;
    expect(repricedCost(then.items, ratesOf(now), multiplier)).toBe(expected);
  });

  it.each(['1.25', '0', '0.333333'])('%s × what it says', (text) => {
    const other = parseMultiplier(text);
    for (const surcharges of [[], ['service_tier.priority']]) {
      const { items } = chat(surcharged, tokens, surcharges);
      const costs = rescaledCost(items, other);
      expect(costs).toBe(repricedCost(items, ratesOf(surcharged), other));
    }
    const seconds = [{ part: 'video_second.720P', quantity: 5.125, rate: '100000000000000' }];
    expect(rescaledCost(seconds, other)).toBe(repricedCost(seconds, ratesOf(videos), other));
  });

  it('with its surcharge, by the factor of the other price', () => {
    const dearer = { ...surcharged, multipliers: { 'service_tier.priority': '2' } };
    const { items } = chat(surcharged, tokens, ['service_tier.priority']);
    const expected = chat(dearer, tokens, ['service_tier.priority']).cost;
    expect(repricedCost(items, ratesOf(dearer), multiplier)).toBe(expected);
  });
});

test.each<[string, DeclaredPrice, readonly { part: string; quantity: number; rate: string }[]]>([
  [
    'a surcharge without a factor',
    plain,
    [{ part: 'input@speed.fast', quantity: 1, rate: '0.000006' }],
  ],
  ['a part that it lacks', plain, [{ part: 'fees.web_search', quantity: 2, rate: '0.01' }]],
  [
    'several prompts, whose lengths choose the rates',
    tiered,
    [
      { part: 'input', quantity: 250_000, rate: '0.000003' },
      { part: 'iterations', quantity: 2, rate: '0' },
    ],
  ],
])('a price does not say what it would make of %s', (_what, price, items) => {
  expect(repricedCost(items, ratesOf(price), multiplier)).toBe(null);
});

const images: DeclaredPrice = {
  imageTiers: [{ name: '2K', maxPixels: 4_000_000, price: '0.04' }],
  referenceImage: '0.01',
};
const videos: DeclaredPrice = { videoSecond: { '720P': '0.1' } };
test.each<[string, DeclaredPrice, string, number, string]>([
  ['images', images, 'image_tiers.2K', 3, '0.12'],
  ['source images', images, 'reference_image', 2, '0.02'],
  ['seconds of video, with thousandths', videos, 'video_second.720P', 5.125, '0.5125'],
  [
    'tokens of video',
    { videoTokens: { '1080P': { text: '10', withVideo: '20' } } },
    'video_tokens.1080P.with_video',
    1_000,
    '0.02',
  ],
  ['embeddings', { input: '0.1' }, 'input', 10_000, '0.001'],
  ['searches', { ...plain, fees: { web_search: '0.01' } }, 'fees.web_search', 4, '0.04'],
])('%s are counted by their part', (_what, price, part, quantity, usd) => {
  const nano = BigInt(Math.round(Number(usd) * 1e9));
  const one = parseMultiplier('1');
  expect(repricedCost([{ part, quantity, rate: '9' }], ratesOf(price), one)).toBe(nano);
});

test('marks cost nothing', () => {
  const counts = { tokens, implausible: false };
  const marks = receiptOf(iterationMarks([counts, counts] as never), multiplier).items;
  expect(repricedCost(marks, ratesOf(plain), multiplier)).toBe(0n);
});
