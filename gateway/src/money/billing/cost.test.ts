import { describe, expect, it } from 'vitest';
import { apartParts, type TextProtocolName } from '#canonical/index.ts';
import type { DeclaredPrice } from '#config/index.ts';
import { textProtocols } from '#protocols/index.ts';
import { parseMultiplier, receiptOf, type CostLine } from './cost.ts';
import { imageLines, type ReturnedImage } from './image-lines.ts';
import { ratesOf } from './rates.ts';
import { tokenLines } from './usage-lines.ts';
import { pricesVideo, videoBound } from './video-bound.ts';

const one = parseMultiplier('1');
const none = { input: 0, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };

const costOf = (lines: unknown, multiplier = one) =>
  receiptOf(lines as CostLine[], multiplier).cost;

const textCost = (price: DeclaredPrice, tokens: object, multiplier?: string) =>
  costOf(tokenLines(ratesOf(price), { ...none, ...tokens }), parseMultiplier(multiplier ?? '1'));

/** From the upstream's own usage object, through the reader of its protocol, to the charge. */
function wireCost(protocol: TextProtocolName, response: object, price: DeclaredPrice): bigint {
  const { usage } = textProtocols[protocol].readResponse(Buffer.from(JSON.stringify(response)), {
    clientModel: 'm',
    upstreamModel: 'm',
  });
  return textCost(price, usage?.tokens ?? {});
}

const tiers: DeclaredPrice = {
  imageTiers: [
    { name: '1K', maxPixels: 2_610_000, price: '0.04' },
    { name: '2K', maxPixels: 6_000_000, price: '0.08' },
  ],
  layerFactor: '0.5',
  referenceImage: '0.003',
};
const image = (size: string | null, isLayer = false): ReturnedImage => ({ size, isLayer });
const imagesOf = (images: readonly ReturnedImage[], references = 0, price = tiers) =>
  imageLines(ratesOf(price), images, references);

describe('exact charges in nano-USD', () => {
  it('B-01a: a cache write is not charged as input too', () => {
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 12_304,
      cache_read_input_tokens: 0,
      output_tokens: 550,
    };
    const price = { input: '3', cacheWrite: '3.75', cacheRead: '0.3', output: '15' };
    expect(wireCost('messages', { content: [], usage }, price)).toBe(54_399_000n);
  });

  it('B-01b: cached tokens lie inside the prompt', () => {
    const usage = {
      prompt_tokens: 2_006,
      prompt_tokens_details: { cached_tokens: 1_920 },
      completion_tokens: 300,
    };
    const price = { input: '2.5', cacheRead: '1.25', output: '10' };
    expect(wireCost('chat', { choices: [], usage }, price)).toBe(5_615_000n);
  });

  it('B-01c: cached tokens inside the prompt, thoughts beside the response', () => {
    const usageMetadata = {
      promptTokenCount: 1_000,
      cachedContentTokenCount: 400,
      candidatesTokenCount: 50,
      thoughtsTokenCount: 200,
    };
    const price = { input: '0.3', cacheRead: '0.075', output: '2.5' };
    expect(wireCost('generate-content', { candidates: [], usageMetadata }, price)).toBe(835_000n);
  });

  describe('by the length of the prompt', () => {
    const price = {
      input: '1',
      cacheRead: '0.1',
      output: '10',
      tiers: [
        { above: 200, input: '2', output: '20' },
        { above: 1_000, input: '4', cacheRead: '0.4', cacheWrite: '5' },
      ],
    };
    const partsOf = (tokens: object) =>
      receiptOf(tokenLines(ratesOf(price), { ...none, ...tokens }), one).items.map(
        ({ part, rate }) => [part, rate],
      );

    it.each([
      [
        { input: 200, output: 1 },
        [
          ['input', '1000000000'],
          ['output', '10000000000'],
        ],
      ],
      [
        { input: 1, cacheRead: 100, cacheWrite: 50, cacheWrite1h: 50, output: 1 },
        [
          ['tiers.200.input', '2000000000'],
          // What a tier does not name costs what it costs without tiers; the default is the tier's own input.
          ['tiers.200.cache_read', '100000000'],
          ['tiers.200.cache_write', '2000000000'],
          ['tiers.200.cache_write_1h', '2000000000'],
          ['tiers.200.output', '20000000000'],
        ],
      ],
      [
        { input: 900, cacheRead: 101, output: 1 },
        [
          ['tiers.1000.input', '4000000000'],
          ['tiers.1000.cache_read', '400000000'],
          ['tiers.1000.output', '10000000000'],
        ],
      ],
    ])('%j: one tier for all parts', (tokens, expected) => {
      expect(partsOf(tokens)).toEqual(expected);
    });
  });

  it.each([
    [1, 2n],
    [2, 5n],
    [3, 8n],
    [5, 12n],
    [7, 18n],
  ])('B-01d: %i tokens at $0.0025 a million, halves to even', (input, expected) => {
    expect(textCost({ input: '0.0025', output: '0' }, { input })).toBe(expected);
  });

  it('B-01e: the multiplier of a group goes in before rounding', () => {
    expect(textCost({ input: '0.02', output: '0' }, { input: 1 }, '0.16')).toBe(3n);
  });

  it('B-01f: a base image and sixteen layers, each by its own size', () => {
    const layers = Array.from({ length: 16 }, () => image('1273x265', true));
    expect(costOf(imagesOf([image('2048x2048'), ...layers]))).toBe(400_000_000n);
  });

  it('B-01g: video tokens', () => {
    const rates = ratesOf({ videoTokens: { '720P': { text: '7', withVideo: '4.3' } } });
    const costWith = (withVideo: boolean): bigint => {
      const [line] = videoBound(rates, { resolution: '720P', seconds: 5, withVideo });
      return costOf([{ ...line, quantity: 108_900n }]);
    };
    expect([costWith(false), costWith(true)]).toEqual([762_300_000n, 468_270_000n]);
  });

  it('B-01h: one image of three without a size makes all of them unbillable', () => {
    expect(imagesOf([image('1024x1024'), image(null), image('1024x1024')])).toEqual({
      unbillable: 'size_missing',
      detail: 'image 1',
    });
  });

  it('B-01i: the first reference image is free', () => {
    expect(costOf(imagesOf([image('2048x2048')], 3))).toBe(86_000_000n);
    expect(costOf(imagesOf([image('2048x2048')], 1))).toBe(80_000_000n);
  });

  it('video seconds, to the millisecond', () => {
    const rates = ratesOf({ videoSecond: { '720P': '0.1', '1080P': '0.15' } });
    const [line] = videoBound(rates, { resolution: '1080P', seconds: 6, withVideo: false });
    const receipt = receiptOf([{ ...line, quantity: 5_040 }], one);
    expect(receipt).toEqual({
      items: [{ part: 'video_second.1080P', quantity: 5.04, rate: '150000000000000' }],
      cost: 756_000_000n,
    });
  });
});

describe('the parts of a price', () => {
  const threeOfEach = { input: 3, cacheRead: 3, cacheWrite: 1, cacheWrite1h: 1, output: 3 };
  const partsOf = (price: DeclaredPrice) =>
    Object.fromEntries(
      receiptOf(
        tokenLines(ratesOf(price), {
          ...none,
          ...threeOfEach,
          ...Object.fromEntries(apartParts.map((part) => [part, 1])),
          reasoning: 1,
        }),
        one,
      ).items.map(({ part, rate }) => [part, Number(rate) / 1e9]),
    );

  it('default to the input, a longer cache to the shorter', () => {
    expect(partsOf({ input: '2', output: '8' })).toEqual({
      input: 2,
      cache_read: 2,
      cache_write: 2,
      cache_write_1h: 2,
      output: 8,
    });
    expect(partsOf({ input: '2', cacheWrite: '3', output: '8' })).toMatchObject({
      cache_read: 2,
      cache_write: 3,
      cache_write_1h: 3,
    });
  });

  it('are each their own when named, free ones too', () => {
    const price = { input: '2', inputImage: '4', cacheRead: '0', cacheWrite: '3', output: '8' };
    const sound = { inputAudio: '6', cacheReadAudio: '7', outputAudio: '10', cacheReadImage: '11' };
    expect(partsOf({ ...price, cacheWrite1h: '5', outputImage: '9', ...sound })).toEqual({
      input: 2,
      input_image: 4,
      input_audio: 6,
      cache_read: 0,
      cache_read_image: 11,
      cache_read_audio: 7,
      cache_write: 3,
      cache_write_1h: 5,
      output: 8,
      output_image: 9,
      output_audio: 10,
    });
  });

  it('from a cache cost as much as new where reading it has no price', () => {
    const price = { input: '2', inputImage: '4', inputAudio: '6', output: '8' };
    expect(partsOf(price)).toMatchObject({
      cache_read: 2,
      cache_read_image: 4,
      cache_read_audio: 6,
    });
    expect(partsOf({ ...price, cacheRead: '1' })).not.toHaveProperty('cache_read_audio');
  });

  it('keep every digit a price may have', () => {
    expect(textCost({ input: '0.000000001', output: '0' }, { input: 1_000_000_000 })).toBe(1_000n);
    const rate = ratesOf({ videoSecond: { a: '0.000000000000001' } }).videoSecond.get('a')!;
    // 1.5 × 10⁹ seconds at 10⁻¹⁵ USD: 1 500 nano-USD.
    expect(costOf([{ rate, quantity: 1_500_000_000_000 }])).toBe(1_500n);
  });

  it('are worked out once for a price', () => {
    const price = { input: '1', output: '2' };
    expect(ratesOf(price)).toBe(ratesOf(price));
  });
});

describe('image sizes', () => {
  const nameOf = (size: string) => {
    const lines = imagesOf([image(size)]);
    return Array.isArray(lines) ? lines.map(({ rate }) => rate.part) : lines.unbillable;
  };

  it.each([
    ['1x1', ['image_tiers.1K']],
    ['1024x1536', ['image_tiers.1K']],
    ['2610000x1', ['image_tiers.1K']],
    ['2610001x1', ['image_tiers.2K']],
    ['1760x2368', ['image_tiers.2K']],
    ['1280*720', ['image_tiers.1K']],
    ['3000x2000', ['image_tiers.2K']],
    ['3000x2001', 'size_above_tiers'],
    ['999999999x999999999', 'size_above_tiers'],
    ['', 'size_missing'],
    ['2K', 'size_missing'],
    ['auto', 'size_missing'],
    ['0x1024', 'size_missing'],
    ['-1x-1', 'size_missing'],
    ['1e3x1', 'size_missing'],
    ['18446744073686646784x1', 'size_missing'],
  ])('%j', (size, expected) => {
    expect(nameOf(size)).toEqual(expected);
  });

  it('a layer or a second reference without a price is never free', () => {
    const { layerFactor: _, referenceImage: __, ...price } = tiers;
    expect(() => imagesOf([image('9x9', true)], 0, price)).toThrow(RangeError);
    expect(() => imagesOf([image('9x9')], 2, price)).toThrow(RangeError);
  });
});

it('a resolution without a price is not charged by guess', () => {
  const rates = ratesOf({ videoSecond: { '720P': '0.1' } });
  expect(pricesVideo(rates, 'video-synthesis', '720P')).toBe(true);
  expect(pricesVideo(rates, 'video-synthesis', '4K')).toBe(false);
  expect(pricesVideo(rates, 'video-contents', '720P')).toBe(false);
  expect(() => videoBound(rates, { resolution: '4K', seconds: 5, withVideo: false })).toThrow('4K');
});

describe('S-37: numbers that would wrap, round or turn the sign', () => {
  const price = { input: '1000000', output: '1000000' };

  it.each([-1, 1.5, 2 ** 53, 1e308, Number.POSITIVE_INFINITY, Number.NaN])(
    '%d is no quantity',
    (input) => {
      expect(() => textCost(price, { input })).toThrow(RangeError);
    },
  );

  it.each([2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER])('%d is charged exactly', (input) => {
    expect(textCost(price, { input })).toBe(BigInt(input) * 1_000_000_000n);
  });

  it.each(['', '-1', 'abc', 'NaN', '1e-7', '0.1234567', '1,5'])('%j is no multiplier', (text) => {
    expect(() => parseMultiplier(text)).toThrow(RangeError);
  });
});

it('K30, K31, K33: no token is charged twice and none gives money back', () => {
  const price = { input: '1', cacheRead: '0.1', cacheWrite: '1.25', output: '4' };
  const gemini = {
    candidates: [],
    usageMetadata: {
      promptTokenCount: 262_960,
      cachedContentTokenCount: 257_955,
      candidatesTokenCount: 0,
    },
  };
  expect(wireCost('generate-content', gemini, price)).toBe(5_005_000n + 25_795_500n);
  // What of them were images is said once more beside it, and counts no second time.
  const details = {
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: 262_000 },
      { modality: 'IMAGE', tokenCount: 960 },
    ],
    cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 257_955 }],
  };
  const detailed = { ...gemini, usageMetadata: { ...gemini.usageMetadata, ...details } };
  expect(wireCost('generate-content', detailed, price)).toBe(5_005_000n + 25_795_500n);
  // More cached than in the prompt: the prompt excludes what was cached.
  const usage = {
    prompt_tokens: 10,
    prompt_tokens_details: { cached_tokens: 5_000 },
    completion_tokens: 0,
  };
  expect(wireCost('chat', { choices: [], usage }, price)).toBe(10_000n + 500_000n);
});

it('K32: cache counters at the top level are found', () => {
  const price = { input: '1', cacheRead: '0.1', output: '4' };
  const usage = { prompt_tokens: 100, prompt_cache_hit_tokens: 60, completion_tokens: 0 };
  expect(wireCost('chat', { choices: [], usage }, price)).toBe(40_000n + 6_000n);
});
