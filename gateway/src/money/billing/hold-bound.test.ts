import { describe, expect, it } from 'vitest';
import { holdOf, parseMultiplier, type Multiplier } from './cost.ts';
import { textBound, tokenBounds, type TextDemand } from './hold-bound.ts';
import { ratesOf, type PriceRates } from './rates.ts';
import { videoBound } from './video-bound.ts';

const one = parseMultiplier('1');
const textHold = (
  by: PriceRates,
  limits: { readonly maxOutputTokens: number | null },
  demand: TextDemand,
  multiplier: Multiplier,
) => holdOf(textBound(by, limits, demand), multiplier);
const rates = ratesOf({ input: '1', cacheWrite1h: '2', output: '10' });
const model = { maxOutputTokens: 64_000 };
const hold = (bodyBytes: number, outputLimit: number | null, choices: number | null = null) =>
  textHold(rates, model, { bodyBytes, outputLimit, choices }, one);

describe('the hold of a text request', () => {
  it('prices half the bytes in the dearest input part, and the limit that was asked for', () => {
    expect(hold(1_001, 100)).toBe(501n * 2_000n + 100n * 10_000n);
  });

  it('takes 16 384 tokens of output where nothing smaller is known', () => {
    expect(hold(0, null)).toBe(163_840_000n);
    const small = { maxOutputTokens: 4_096 };
    const demand = { bodyBytes: 0, outputLimit: null, choices: null };
    expect(textHold(rates, small, demand, one)).toBe(40_960_000n);
    expect(textHold(rates, { maxOutputTokens: null }, demand, one)).toBe(163_840_000n);
  });

  it('takes no more output than the model gives, whatever was asked for', () => {
    expect(hold(0, 1_000_000_000)).toBe(64_000n * 10_000n);
    const unknown = { maxOutputTokens: null };
    const demand = { bodyBytes: 0, outputLimit: 1_000_000, choices: null };
    expect(textHold(rates, unknown, demand, one)).toBe(1_000_000n * 10_000n);
  });

  it('takes the dearest tier that the prompt may reach', () => {
    const tiers = [
      { above: 500, input: '5', output: '8' },
      { above: 1_000, input: '3', output: '20' },
    ];
    const by = ratesOf({ input: '1', output: '10', tiers });
    const of = (bodyBytes: number) =>
      textHold(by, model, { bodyBytes, outputLimit: 100, choices: null }, one);
    expect(of(1_000)).toBe(500n * 1_000n + 100n * 10_000n);
    expect(of(1_002)).toBe(501n * 5_000n + 100n * 10_000n);
    expect(of(2_002)).toBe(1_001n * 5_000n + 100n * 20_000n);
  });

  it('takes the dearest kind of token that the request may reach', () => {
    const sound = { inputAudio: '32', cacheReadAudio: '40', outputAudio: '64' };
    const images = { inputImage: '5', outputImage: '120' };
    const tiers = [{ above: 499, outputAudio: '65' }];
    const by = ratesOf({ input: '1', output: '10', ...sound, ...images, tiers });
    const text = {
      inputImage: false,
      inputAudio: false,
      outputImage: false,
      outputAudio: false,
    };
    const of = (reach: Partial<typeof text> | null, bodyBytes = 998) => {
      const known = reach === null ? {} : { reach: { ...text, ...reach } };
      const demand = { bodyBytes, outputLimit: 100, choices: null, ...known };
      return textHold(by, model, demand, one);
    };
    expect(of({})).toBe(499n * 1_000n + 100n * 10_000n);
    expect(of({ inputImage: true })).toBe(499n * 5_000n + 100n * 10_000n);
    expect(of({ inputAudio: true })).toBe(499n * 40_000n + 100n * 10_000n);
    expect(of({ outputAudio: true })).toBe(499n * 1_000n + 100n * 64_000n);
    expect(of({ outputAudio: true }, 1_000)).toBe(500n * 1_000n + 100n * 65_000n);
    expect(of(null)).toBe(499n * 40_000n + 100n * 120_000n);
  });

  it('counts every response asked for', () => {
    expect(hold(1_000, 100, 5)).toBe(5n * hold(1_000, 100));
  });

  describe('with input that its bytes do not tell', () => {
    const nothing = {
      images: 0,
      imageTokens: 1_000,
      imageBytes: 0,
      unseen: false,
      hostedTools: false,
    };
    const input = (more: Partial<typeof nothing>, contextWindow: number | null = 100_000) =>
      tokenBounds(
        { ...model, contextWindow },
        { bodyBytes: 4_000, outputLimit: 1, choices: null, extent: { ...nothing, ...more } },
      ).input;

    it('takes each picture for as much as any can be, and not for its bytes', () => {
      expect(input({})).toBe(2_000n);
      expect(input({ images: 2 })).toBe(4_000n);
      expect(input({ images: 2, imageBytes: 3_000 })).toBe(2_500n);
      expect(input({ images: 1_000 })).toBe(102_000n);
      expect(input({ images: 1, imageBytes: 9_000 })).toBe(1_000n);
    });

    it('takes the window where nothing else bounds it', () => {
      expect(input({ unseen: true })).toBe(100_000n);
      expect(input({ unseen: true }, null)).toBe(200_000n);
      expect(input({ unseen: true }, 1_000)).toBe(2_000n);
      expect(input({ unseen: true, images: 5 })).toBe(100_000n);
    });

    it('leaves room for what tools find', () => {
      expect(input({ hostedTools: true })).toBe(52_000n);
      expect(input({ hostedTools: true }, 8_000)).toBe(10_000n);
    });
  });

  it('doubles what may be compacted first, if it is long enough for that', () => {
    const nothing = { images: 0, imageTokens: 0, imageBytes: 0, unseen: false, hostedTools: false };
    const bounds = (bodyBytes: number) =>
      tokenBounds(model, {
        bodyBytes,
        outputLimit: 7,
        choices: null,
        extent: { ...nothing, compacts: true },
      });
    expect(bounds(99_998)).toEqual({ input: 49_999n, output: 7n });
    expect(bounds(100_000)).toEqual({ input: 100_000n, output: 14n });
  });

  it('follows the multiplier, rounded up', () => {
    const third = parseMultiplier('0.333333');
    expect(textHold(rates, model, { bodyBytes: 2, outputLimit: 1, choices: 1 }, third)).toBe(
      4_000n,
    );
  });

  it.each([{ videoSecond: { '720P': '1' } }, { input: '1' }, { output: '1' }, {}])(
    'is refused at a price that lacks input or output: %j',
    (price) => {
      const demand = { bodyBytes: 9, outputLimit: 9, choices: 9 };
      expect(() => textHold(ratesOf(price), model, demand, one)).toThrow(RangeError);
    },
  );

  it.each([0, -1, -1e308, Number.NaN])('%d is no limit and no count', (value) => {
    expect(hold(0, value, value)).toBe(hold(0, null, null));
  });

  it.each([2 ** 31, 2 ** 53, 18_446_744_073_686_646_784, 1e308, Number.POSITIVE_INFINITY])(
    'S-37: %d makes it larger, up to all there is, never less',
    (value) => {
      const unbounded = (outputLimit: number, choices: number) =>
        textHold(rates, { maxOutputTokens: null }, { bodyBytes: 0, outputLimit, choices }, one);
      for (const bound of [unbounded(value, 1), unbounded(1, value), unbounded(value, value)]) {
        expect(bound).toBeGreaterThanOrEqual(unbounded(2 ** 31 - 1, 1));
        expect(bound).toBeLessThanOrEqual(2n ** 63n - 1n);
      }
    },
  );

  it('rounds what is between two tokens up', () => {
    expect(hold(0, 1.5)).toBe(hold(0, 2));
  });
});

describe('the hold of video', () => {
  const priced = ratesOf({ videoSecond: { '720P': '0.1' } });

  it('is what the seconds asked for cost', () => {
    const lines = videoBound(priced, { resolution: '720P', seconds: 5, withVideo: false });
    expect(holdOf(lines, one)).toBe(500_000_000n);
  });
});
