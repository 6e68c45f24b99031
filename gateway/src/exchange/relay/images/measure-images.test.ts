import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { imageBound, parseMultiplier, ratesOf, receiptOf } from '#billing/index.ts';
import type { ImageEntry } from '#protocols/index.ts';
import { noSurcharges } from '#vendors/index.ts';
import { measureImages, type MeasuredRequest } from './measure-images.ts';

const tiers = [
  { name: '1K', maxPixels: 2_610_000, price: '0.04' },
  { name: '2K', maxPixels: 6_000_000, price: '0.08' },
];
const rates = ratesOf({ imageTiers: tiers, layerFactor: '0.5', referenceImage: '0.003' });
const one = parseMultiplier('1');

interface Sketch {
  readonly width: number;
  readonly height: number;
  readonly zIndex?: number | null;
  readonly isFailed?: boolean;
}

const entryOf = ({ width, height, zIndex = null, isFailed = false }: Sketch): ImageEntry => ({
  size: `${width}x${height}`,
  zIndex,
  isFailed,
  imageStart: null,
});

const preparedFor = (
  request: Partial<MeasuredRequest['request']> = {},
  capabilities: readonly string[] = ['multi_reference', 'layers'],
): MeasuredRequest => ({
  request: { images: 1, layers: false, sources: 0, ...request },
  model: {
    capabilities: new Set(capabilities),
    contextWindow: null,
    maxOutputTokens: null,
    price: null,
    allow: new Set(),
  },
  rates,
  surcharges: noSurcharges,
});

const answered = (entries: readonly ImageEntry[], inputImages: number | null = null) => ({
  entries,
  size: null,
  inputImages,
  usage: null,
});

function costOf(
  entries: readonly ImageEntry[],
  prepared: MeasuredRequest,
  inputImages: number | null = null,
): bigint {
  const measured = measureImages(answered(entries, inputImages), prepared, 'error');
  if (typeof measured === 'string') return expect.fail(measured);
  return receiptOf(measured.lines(rates), one).cost;
}

const side = fc.integer({ min: 1, max: 2_400 });
const sketch = fc.record({ width: side, height: side, isFailed: fc.boolean() });
const set = fc.array(sketch, { minLength: 1, maxLength: 20 });
const fits = ({ width, height }: Sketch) => width * height <= 6_000_000;

/** Nano-USD of one image, computed by itself. */
const alone = ({ width, height, isFailed }: Sketch): bigint =>
  isFailed === true ? 0n : width * height <= 2_610_000 ? 40_000_000n : 80_000_000n;

describe('the charge of pictures by tiers', () => {
  test('of any set is the sum of its good pictures, and no more than the hold', () => {
    fc.assert(
      fc.property(
        set.filter((all) => all.every(fits) && all.some(({ isFailed }) => !isFailed)),
        fc.integer({ min: 0, max: 16 }),
        (all, sources) => {
          const request = { images: all.length, layers: false, sources };
          const references = sources > 1 ? BigInt(sources - 1) * 3_000_000n : 0n;
          const cost = costOf(all.map(entryOf), preparedFor(request));
          expect(cost).toBe(all.reduce((sum, each) => sum + alone(each), references));
          const bound = imageBound(
            rates,
            { maxOutputTokens: null },
            { ...request, promptBytes: 9 },
          );
          const held = bound.reduce((sum, { rate, quantity }) => sum + rate.perUnit * quantity, 0n);
          expect(cost * 1_000_000n).toBeLessThanOrEqual(held);
        },
      ),
    );
  });

  test('never falls with another picture, a larger one or another reference', () => {
    fc.assert(
      fc.property(
        set.filter((all) => all.every(fits)),
        sketch.filter(fits),
        fc.integer({ min: 0, max: 15 }),
        (all, more, sources) => {
          const entries = [...all, { width: 1, height: 1 }].map(entryOf);
          const cost = costOf(entries, preparedFor({ sources }));
          const another = costOf([...entries, entryOf(more)], preparedFor({ sources }));
          const referring = costOf(entries, preparedFor({ sources: sources + 1 }));
          const larger = costOf(
            entries.with(entries.length - 1, entryOf({ width: 2_000, height: 2_000 })),
            preparedFor({ sources }),
          );
          for (const each of [another, referring, larger]) {
            expect(each).toBeGreaterThanOrEqual(cost);
          }
        },
      ),
    );
  });

  test('without any order of depth the base is the first good entry', () => {
    const layers = [
      { width: 9, height: 9, isFailed: true },
      { width: 9, height: 9 },
      { width: 9, height: 9 },
    ];
    const prepared = preparedFor({ layers: true, sources: 1 });
    expect(costOf(layers.map(entryOf), prepared)).toBe(60_000_000n);
    const measured = measureImages(answered(layers.map(entryOf)), prepared, 'error');
    expect(measured).toMatchObject({ units: { images: 1, layers: 1, reference_images: 1 } });
  });

  test('no more than sixteen layers are charged, and the row is marked', () => {
    const entries = (layers: number) =>
      Array.from({ length: layers + 1 }, () => entryOf({ width: 9, height: 9 }));
    const prepared = preparedFor({ layers: true, sources: 1 });
    const most = costOf(entries(16), prepared);
    expect(most).toBe(40_000_000n + 16n * 20_000_000n);
    expect(costOf(entries(20), prepared)).toBe(most);
    expect(measureImages(answered(entries(16)), prepared, 'error')).toMatchObject({
      source: 'reported',
    });
    expect(measureImages(answered(entries(17)), prepared, 'error')).toMatchObject({
      source: 'quarantined',
      units: { images: 1, layers: 17 },
    });
  });

  test('entries above the base are layers only if layers were asked for', () => {
    const entries = [0, 1, 2].map((zIndex) => entryOf({ width: 9, height: 9, zIndex }));
    expect(costOf(entries, preparedFor({ layers: true, sources: 1 }))).toBe(80_000_000n);
    expect(costOf(entries, preparedFor())).toBe(120_000_000n);
  });

  test.each([
    [3, null, 6_000_000n],
    [3, 2, 3_000_000n],
    [3, 0, 0n],
    [3, 4, 6_000_000n],
    [1, 1, 0n],
  ])('%i references of which the upstream counts %s', (sources, counted, nano) => {
    const entries = [entryOf({ width: 9, height: 9 })];
    expect(costOf(entries, preparedFor({ sources }), counted) - 40_000_000n).toBe(nano);
  });

  test.each([
    ['a model with references', ['multi_reference'], 'size_missing'],
    ['a model with layers', ['layers'], 'size_missing'],
    ['any other model', ['edits'], 40_000_000n],
  ])('takes the size of the whole response only for a model without: %s', (_, can, result) => {
    const entries = [{ ...entryOf({ width: 9, height: 9 }), size: null }];
    const response = { ...answered(entries), size: '9x9' };
    const measured = measureImages(response, preparedFor({}, can), 'error');
    const cost =
      typeof measured === 'string' ? measured : receiptOf(measured.lines(rates), one).cost;
    expect(cost).toBe(result);
  });
});
