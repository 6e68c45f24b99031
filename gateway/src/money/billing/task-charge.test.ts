import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TaskUsage, VideoDemand, VideoProtocolName } from '#canonical/index.ts';
import type { Hold } from './billing.ts';
import { holdOf, parseMultiplier } from './cost.ts';
import { ratesOf } from './rates.ts';
import { chargeOfTask, measureTask, termsOfTask } from './task-charge.ts';
import { pricesVideo, videoBound, videoQuantity } from './video-bound.ts';

const bySecond = ratesOf({ videoSecond: { '480P': '0.05', '720P': '0.1', '1080P': '0.15' } });
const byToken = ratesOf({ videoTokens: { '720P': { text: '7', withVideo: '4' } } });

const reported = (quantity: number): TaskUsage => ({ quantity, isImplausible: false });
const missing: TaskUsage = { quantity: null, isImplausible: false };
const implausible: TaskUsage = { quantity: null, isImplausible: true };

const demand = (resolution: VideoDemand['resolution'], seconds: number, withVideo = false) => ({
  resolution,
  seconds,
  withVideo,
});

/** A hold and the terms of its task. */
function admit(rates: typeof bySecond, asked: VideoDemand, multiplierText = '1') {
  const bound = videoBound(rates, asked);
  const multiplier = parseMultiplier(multiplierText);
  const amount = holdOf(bound, multiplier);
  const hold: Hold = {
    id: 'req_1',
    payer: 'user',
    amount,
    isShort: false,
    meters: ['user:usr_1:balance'],
    window: null,
    rates,
    priceVersion: 'v1',
    multiplier,
    multiplierText,
    source: { meters: [], expiresAt: 0 },
    extensions: [],
    hasEnded: false,
  };
  return { amount, terms: termsOfTask(hold, bound[0]) };
}

describe('the hold of a video', () => {
  test.each([
    [bySecond, demand('720P', 5), 500_000_000n],
    [bySecond, demand('1080P', 10), 1_500_000_000n],
    // 1.0 million pixels × 24 × 5 s / 1024 = 117 187.5 tokens, at 7 per million.
    [byToken, demand('720P', 5), 820_316_000n],
    // Twice the seconds, at 4 per million.
    [byToken, demand('720P', 5, true), 937_500_000n],
  ])('of %# is the bound × the rate', (rates, asked, amount) => {
    expect(admit(rates, asked).amount).toBe(amount);
  });

  test.each([
    ['480P', 10_079n],
    ['720P', 23_438n],
    ['1080P', 51_563n],
    ['4K', 208_594n],
  ] as const)('of a second at %s is %s tokens', (resolution, tokens) => {
    expect(videoQuantity('video-contents', demand(resolution, 1))).toBe(tokens);
    expect(videoQuantity('video-synthesis', demand(resolution, 1))).toBe(1_000n);
  });

  test('needs a price for the resolution, in the unit of the dialect', () => {
    expect(pricesVideo(bySecond, 'video-synthesis', '720P')).toBe(true);
    expect(pricesVideo(bySecond, 'video-synthesis', '4K')).toBe(false);
    expect(pricesVideo(bySecond, 'video-contents', '720P')).toBe(false);
    expect(pricesVideo(byToken, 'video-contents', '720P')).toBe(true);
    expect(() => videoBound(byToken, demand('4K', 5))).toThrow(RangeError);
  });
});

describe('the charge of a video', () => {
  const charge = (
    dialect: VideoProtocolName,
    { terms }: ReturnType<typeof admit>,
    usage: TaskUsage,
    missingUsage: 'estimate' | 'zero' = 'estimate',
  ) => {
    const { charge: charged, ...measured } = chargeOfTask(terms, dialect, usage, missingUsage);
    return { ...measured, cost: BigInt(charged.cost), overshoot: charged.overshoot };
  };

  test.each([
    ['5.04 s', '1', demand('720P', 5), 5_040, 504_000_000n],
    ['5.04 s of a group × 1.5', '1.5', demand('720P', 5), 5_040, 756_000_000n],
    ['6 of 10 s at 1080P', '1', demand('1080P', 10), 6_000, 900_000_000n],
  ])('of %s is by the millisecond', (_, multiplier, asked, made, cost) => {
    const admitted = admit(bySecond, asked, multiplier);
    expect(charge('video-synthesis', admitted, reported(made))).toMatchObject({
      cost,
      quantity: made,
      source: 'reported',
    });
  });

  test('of 6 of 10 s leaves 0.60 USD of the hold', () => {
    expect(admit(bySecond, demand('1080P', 10)).amount - 900_000_000n).toBe(600_000_000n);
  });

  test.each([
    [false, 762_300_000n],
    [true, 435_600_000n],
  ])('of 108 900 tokens depends on the source: with a video %s', (withVideo, cost) => {
    const admitted = admit(byToken, demand('720P', 5, withVideo));
    expect(charge('video-contents', admitted, reported(108_900))).toMatchObject({ cost });
  });

  test('is for the seconds asked for if none were reported, and for the bound in tokens by the setting', () => {
    const seconds = admit(bySecond, demand('720P', 5));
    const estimated = { source: 'estimated', cost: 500_000_000n, quantity: 5_000 };
    expect(charge('video-synthesis', seconds, missing, 'zero')).toMatchObject(estimated);
    const tokens = admit(byToken, demand('720P', 5));
    expect(charge('video-contents', tokens, missing)).toMatchObject({
      source: 'estimated',
      cost: tokens.amount,
    });
    const nothing = { source: 'none', cost: 0n, quantity: 0 };
    expect(charge('video-contents', tokens, missing, 'zero')).toMatchObject(nothing);
  });

  test('believes up to ten times the bound, and charges the hold beyond', () => {
    const admitted = admit(bySecond, demand('720P', 5));
    expect(charge('video-synthesis', admitted, reported(50_000))).toMatchObject({
      source: 'reported',
      cost: 5_000_000_000n,
      overshoot: '4500000000',
    });
    const quarantined = { source: 'quarantined', cost: 500_000_000n, overshoot: '0' };
    for (const usage of [50_001, -1, 0.5, Number.NaN, 1e300].map(reported)) {
      expect(charge('video-synthesis', admitted, usage)).toMatchObject(quarantined);
    }
    expect(charge('video-synthesis', admitted, implausible)).toMatchObject(quarantined);
  });

  test('an explicit 0 costs nothing', () => {
    const admitted = admit(bySecond, demand('720P', 5));
    const nothing = { source: 'reported', cost: 0n, quantity: 0 };
    expect(charge('video-synthesis', admitted, reported(0))).toMatchObject(nothing);
  });

  test('is never below 0, nor above ten holds, and only the stored terms decide', () => {
    const resolution = fc.constantFrom('480P', '720P', '1080P', '4K');
    fc.assert(
      fc.property(
        fc.record({
          price: fc.integer({ min: 1, max: 1_000_000 }),
          multiplier: fc.constantFrom('0.000001', '0.5', '1', '1.5', '1000'),
          asked: fc.record({ resolution, seconds: fc.integer({ min: 3, max: 15 }) }),
          withVideo: fc.boolean(),
          dialect: fc.constantFrom<VideoProtocolName[]>('video-synthesis', 'video-contents'),
          usage: fc.record({
            quantity: fc.oneof(fc.constant(null), fc.double(), fc.nat(10_000_000)),
            isImplausible: fc.boolean(),
          }),
          missingUsage: fc.constantFrom<('estimate' | 'zero')[]>('estimate', 'zero'),
        }),
        ({ price, multiplier, asked, withVideo, dialect, usage, missingUsage }) => {
          const text = String(price / 1_000);
          const rates = ratesOf(
            dialect === 'video-synthesis'
              ? { videoSecond: { [asked.resolution]: text } }
              : { videoTokens: { [asked.resolution]: { text, withVideo: text } } },
          );
          const { amount, terms } = admit(rates, { ...asked, withVideo }, multiplier);
          const first = chargeOfTask(terms, dialect, usage, missingUsage);
          const cost = BigInt(first.charge.cost);
          expect(cost).toBeGreaterThanOrEqual(0n);
          expect(cost).toBeLessThanOrEqual(amount * 10n);
          if (first.source !== 'reported') expect(cost).toBeLessThanOrEqual(amount);
          const stored = JSON.parse(JSON.stringify(terms)) as typeof terms;
          expect(chargeOfTask(stored, dialect, usage, missingUsage)).toEqual(first);
          const bound = videoQuantity(dialect, { ...asked, withVideo });
          expect(measureTask(bound, dialect, usage, missingUsage)).toEqual({
            quantity: first.quantity,
            source: first.source,
          });
        },
      ),
    );
  });
});
