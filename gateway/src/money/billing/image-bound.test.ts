import { describe, expect, test } from 'vitest';
import { holdOf, parseMultiplier, receiptOf, type CostLine } from './cost.ts';
import { imageBound, unpricedPart, type ImageDemand } from './image-bound.ts';
import { imageLines } from './image-lines.ts';
import { ratesOf } from './rates.ts';

const one = parseMultiplier('1');
const imageTiers = [
  { name: '1K', maxPixels: 100, price: '0.09' },
  { name: '2K', maxPixels: 400, price: '0.04' },
];
const tiers = ratesOf({ imageTiers, layerFactor: '0.5', referenceImage: '0.003' });
const onlyTiers = ratesOf({ imageTiers });
const tokens = ratesOf({ input: '5', inputImage: '8', output: '10', outputImage: '32' });
const unlimited = { maxOutputTokens: null };
const usual: ImageDemand = { images: 1, layers: false, sources: 0, promptBytes: 0 };
const hold = (rates: typeof tiers, demand: Partial<ImageDemand>, model = unlimited) =>
  holdOf(imageBound(rates, model, { ...usual, ...demand }), one);

describe('the hold of pictures priced by tiers', () => {
  test('covers any returned sizes', () => {
    const bound = hold(tiers, { images: 2, sources: 3 });
    expect(bound).toBe(186_000_000n);
    const images = ['10x10', '10x10'].map((size) => ({ size, isLayer: false }));
    expect(receiptOf(imageLines(tiers, images, 3) as CostLine[], one).cost).toBe(bound);
  });

  test('covers sixteen layers of each picture', () => {
    expect(hold(tiers, { layers: true })).toBe(90_000_000n + 16n * 45_000_000n);
    expect(hold(tiers, { images: 2, layers: true })).toBe(2n * (90_000_000n + 720_000_000n));
  });

  test('contains nothing for the first source picture', () => {
    expect(hold(onlyTiers, { sources: 1 })).toBe(90_000_000n);
  });
});

describe('the hold of pictures priced by tokens', () => {
  test('covers the prompt, the source pictures and the longest output at the dearest rates', () => {
    expect(hold(tokens, { images: 3, sources: 2, promptBytes: 11 })).toBe(
      (6n + 32_768n) * 8_000n + 3n * 16_384n * 32_000n,
    );
  });

  test("uses the model's output limit", () => {
    const model = { maxOutputTokens: 8_000 };
    expect(holdOf(imageBound(tokens, model, usual), one)).toBe(8_000n * 32_000n);
  });

  test('covers requested terms that are dearer, and five searches if there may be any', () => {
    const price = { input: '5', output: '10', fees: { web_search: '0.01' } };
    const multipliers = { 'service_tier.priority': '2', 'service_tier.flex': '0.5' };
    const rates = ratesOf({ ...price, multipliers });
    const plain = 16_384n * 10_000n;
    expect(hold(rates, { terms: ['service_tier.priority'] })).toBe(2n * plain);
    expect(hold(rates, { terms: ['service_tier.flex'] })).toBe(plain);
    expect(hold(rates, { searches: true })).toBe(plain + 50_000_000n);
    const sized = ratesOf({ imageTiers, fees: price.fees });
    expect(hold(sized, { searches: true })).toBe(140_000_000n);
  });
});

describe('what a price lacks', () => {
  test.each([
    ['tiers', onlyTiers, { layers: false, sources: 1 }, null],
    ['tiers without a factor, for layers', onlyTiers, { layers: true, sources: 1 }, 'layers'],
    ['tiers with a factor, for layers', tiers, { layers: true, sources: 1 }, null],
    [
      'tiers without a reference price, for two',
      onlyTiers,
      { layers: false, sources: 2 },
      'references',
    ],
    ['tiers with a reference price, for two', tiers, { layers: false, sources: 2 }, null],
    [
      'a reference price of 0',
      ratesOf({ imageTiers, referenceImage: '0' }),
      { layers: false, sources: 2 },
      null,
    ],
    ['input and output', tokens, { layers: true, sources: 16 }, null],
    ['input alone', ratesOf({ input: '1' }), { layers: false, sources: 0 }, 'images'],
  ])('%s', (_, rates, demand, expected) => {
    expect(unpricedPart(rates, demand)).toBe(expected);
    if (expected !== null) expect(() => hold(rates, demand)).toThrow(RangeError);
  });
});

describe('a price is free', () => {
  test.each([
    ['every part is 0', { imageTiers: [{ name: 'a', maxPixels: 9, price: '0' }] }, true],
    ['one tier is not', { imageTiers: imageTiers.slice(0, 1) }, false],
    [
      'references are not',
      { imageTiers: [{ name: 'a', maxPixels: 9, price: '0' }], referenceImage: '0.1' },
      false,
    ],
    ['pictures of the output are not', { input: '0', output: '0', outputImage: '1' }, false],
    ['tokens are', { input: '0', output: '0' }, true],
  ])('if %s', (_, price, expected) => {
    expect(ratesOf(price).isZero).toBe(expected);
  });
});
