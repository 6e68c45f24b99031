import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalPrice, parseConfig } from '#config/index.ts';
import { priceVersionId } from './prices.ts';

const whole = {
  input: '1.25',
  cacheRead: '0.125',
  cacheWrite: '1.5',
  cacheWrite1h: '2',
  output: '10',
  inputImage: '3',
  tiers: [
    { above: 100, input: '2' },
    { above: 200, cacheRead: '0.5', output: '20' },
  ],
  imageTiers: [
    { name: '1K', maxPixels: 10, price: '0.045' },
    { name: '2K', maxPixels: 20, price: '0.000000000000001' },
  ],
  layerFactor: '0.5',
  referenceImage: '0.003',
  videoSecond: { '1080P': '0.15', '720P': '0.1' },
  videoTokens: { '480P': { text: '5', withVideo: '0.000000001' } },
};

/** The same price in another order of keys, with zeros that say nothing. */
const spelling = fc
  .tuple(fc.shuffledSubarray(Object.entries(whole), { minLength: 12 }), fc.nat(3))
  .map(([entries, zeros]) => respell(Object.fromEntries(entries), zeros));

function respell(value: unknown, zeros: number): unknown {
  if (typeof value === 'string' && /^[\d.]+$/.test(value)) {
    return (value.includes('.') ? value : `${value}.`) + '0'.repeat(zeros);
  }
  if (Array.isArray(value)) return value.map((entry) => respell(entry, zeros));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, part]) => [key, respell(part, zeros)]);
  return Object.fromEntries(entries.toReversed());
}

describe('the normal form of a price', () => {
  it('is the same text for the same price in any spelling', () => {
    const text = JSON.stringify(normalPrice(whole));
    expect(JSON.parse(text)).toEqual(whole);
    fc.assert(
      fc.property(spelling, (spelt) => {
        expect(JSON.stringify(normalPrice(spelt))).toBe(text);
      }),
    );
  });

  it('is its own normal form', () => {
    const once = normalPrice(whole);
    expect(JSON.stringify(normalPrice(once))).toBe(JSON.stringify(once));
  });

  it.each(Object.keys(whole))('rejects a price with a wrong %s', (part) => {
    for (const wrong of [1, null, '', 'x', '-1', [], {}, [{}], { a: 'x' }, { a: {} }]) {
      expect(normalPrice({ ...whole, [part]: wrong })).toBeNull();
    }
  });

  it('accepts everything that a configuration file may say', () => {
    const file = `models:
  - { id: a, type: chat, price: { input: 1e-9, output: 1000000, input_image: .5 } }
  - { id: b, type: image, price: { image_tiers: [{ name: x, max_pixels: 1000000000000, price: 1e-15 }], layer_factor: 1000, reference_image: 0 } }
  - { id: c, type: video, price: { video_second: { 720P: 0 } } }
  - { id: d, type: video, price: { video_tokens: { 4K: { text: "007.50", with_video: 0 } } } }`;
    const { declared } = parseConfig(file, { file: 'f.yaml', environment: {} });
    const prices = declared?.models.map(({ price }) => normalPrice(price)) ?? [];
    expect(prices).toHaveLength(4);
    expect(prices).not.toContain(null);
    expect(prices[3]).toEqual({ videoTokens: { '4K': { text: '7.5', withVideo: '0' } } });
  });
});

describe('the id of a price version', () => {
  const id = (model: string, price: object) => priceVersionId(model, normalPrice(price) ?? {});

  it('depends on the model and the price', () => {
    expect(id('m', whole)).toMatch(/^[0-9a-f]{16}$/);
    expect(id('m', { ...whole, output: '10.000000001' })).not.toBe(id('m', whole));
    expect(id('n', whole)).not.toBe(id('m', whole));
  });

  it('never changes: rows of years ago refer to it', () => {
    expect(id('gpt-5', { input: '1.25', cacheRead: '0.125', output: '10' })).toBe(
      '7efda5d372c25388',
    );
  });
});
