import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  holdOf,
  imageLines,
  parseMultiplier,
  ratesOf,
  receiptOf,
  surchargedLines,
  textBound,
  tokenBounds,
  tokenLines,
  type CostLine,
} from '#billing/index.ts';
import {
  tokenPartNames,
  type TokenCounts,
  type TokenPart,
  type TokenUsage,
} from '#canonical/index.ts';
import type { DeclaredPrice } from '#config/index.ts';
import { receiptCost } from '#ledger/reconcile/receipt-cost.ts';
import { runs } from '../support/runs.ts';
import { oracleCost, type OracleItem } from './cost-oracle.ts';

/** P-13: 10⁶ vectors before a release (`npm run test:money`), enough to notice a mistake on every run. */
const vectors = Number(process.env.SLUICE_COST_VECTORS ?? runs(1_500, 10_000));
const timeout = 20_000 + vectors;

/** Plain digits, mostly few of them, sometimes all there may be. */
const decimalText = (places: number, whole = 1_000) =>
  fc
    .tuple(fc.nat(whole), fc.integer({ min: 0, max: places }), fc.bigInt(0n, 10n ** 15n - 1n))
    .map(([left, kept, digits]) => {
      const right = digits.toString().padStart(15, '0').slice(0, kept);
      return right === '' ? String(left) : `${left}.${right}`;
    });

const perMillion = decimalText(9);
const perUnit = decimalText(15);
const multiplier = fc.oneof(fc.constantFrom('1', '0', '0.5'), decimalText(6, 20));
/** Small numbers land on ties; large ones find what overflows. */
const quantity = fc.oneof(fc.nat(20), fc.nat(2_000_000), fc.nat(Number.MAX_SAFE_INTEGER));
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const tokenPrice = fc
  .record({
    ...Object.fromEntries(tokenPartNames.map((part) => [part, maybe(perMillion)])),
    input: perMillion,
    output: perMillion,
  })
  .map((parts) => definite<DeclaredPrice & { input: string; output: string }>(parts));

/** Tokens, and the same in parts that are disjoint. */
interface Used {
  readonly all: TokenUsage;
  readonly disjoint: Readonly<Record<TokenPart, number>>;
}

/** How many of `whole` are pictures and how many sound. */
function divided(whole: number, [ofImages, ofSound]: readonly number[]) {
  const image = Math.floor(whole * (ofImages ?? 0));
  const audio = Math.floor((whole - image) * (ofSound ?? 0));
  return { text: whole - image - audio, image, audio };
}

const share = fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1, noNaN: true }));
const shares = fc.tuple(share, share);

const usedOf = (counts: TokenCounts, parts: readonly (readonly number[])[]): Used => {
  const input = divided(counts.input, parts[0] ?? []);
  const cached = divided(counts.cacheRead, parts[1] ?? []);
  const output = divided(counts.output, parts[2] ?? []);
  const apart = {
    inputImage: input.image,
    inputAudio: input.audio,
    cacheReadImage: cached.image,
    cacheReadAudio: cached.audio,
    outputImage: output.image,
    outputAudio: output.audio,
  };
  const { cacheWrite, cacheWrite1h } = counts;
  const text = { input: input.text, cacheRead: cached.text, output: output.text };
  return {
    all: { ...counts, ...apart },
    disjoint: { ...apart, ...text, cacheWrite, cacheWrite1h },
  };
};

const tokens: fc.Arbitrary<Used> = fc
  .tuple(
    fc.record({
      input: quantity,
      cacheRead: quantity,
      cacheWrite: quantity,
      cacheWrite1h: quantity,
      output: quantity,
      reasoning: fc.nat(1_000),
    }),
    fc.tuple(shares, shares, shares),
  )
  .map(([counts, parts]) => usedOf(counts, parts));

/** What each part costs by the words of the documentation. */
function priceOf(price: DeclaredPrice & { input: string; output: string }, part: TokenPart) {
  const { input, output, cacheRead, cacheWrite = input } = price;
  switch (part) {
    case 'cacheWrite1h':
      return price.cacheWrite1h ?? cacheWrite;
    case 'cacheReadImage':
      return price.cacheReadImage ?? cacheRead ?? price.inputImage ?? input;
    case 'cacheReadAudio':
      return price.cacheReadAudio ?? cacheRead ?? price.inputAudio ?? input;
    default:
      return price[part] ?? (part.startsWith('output') ? output : input);
  }
}

function definite<Value>(parts: object): Value {
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Value;
}

const counts = ['input', 'cacheRead', 'cacheWrite', 'cacheWrite1h', 'output'] as const;

const textCost = (price: DeclaredPrice, used: TokenUsage, by: string) =>
  receiptOf(tokenLines(ratesOf(price), used), parseMultiplier(by));

describe('P-13: the oracle agrees', () => {
  const check = (lines: unknown, items: readonly OracleItem[], by: string) => {
    const receipt = receiptOf(lines as CostLine[], parseMultiplier(by));
    expect(receipt.cost).toBe(oracleCost(items, by));
    expect(receiptCost(receipt.items, by)).toBe(receipt.cost);
  };

  it(
    'on tokens',
    () => {
      fc.assert(
        fc.property(tokenPrice, tokens, multiplier, (price, used, by) => {
          check(
            tokenLines(ratesOf(price), used.all),
            tokenPartNames.map((part) => ({
              price: priceOf(price, part),
              per: 1_000_000,
              quantity: used.disjoint[part],
            })),
            by,
          );
        }),
        { numRuns: vectors },
      );
    },
    timeout,
  );

  const surcharges = ['service_tier.priority', 'speed.fast', 'inference_geo.us'];
  const searches = fc.oneof(fc.constant(0), fc.nat(20), fc.nat(1_000_000));

  it(
    'on tokens with surcharges and fees',
    () => {
      fc.assert(
        fc.property(
          tokenPrice,
          tokens,
          multiplier,
          fc.dictionary(fc.constantFrom(...surcharges), decimalText(6, 20)),
          fc.subarray(surcharges),
          maybe(perUnit),
          maybe(perUnit),
          searches,
          (price, used, by, multipliers, reported, perSearch, perPrompt, webSearches) => {
            const priced: DeclaredPrice = {
              ...price,
              multipliers,
              fees: definite({ web_search: perSearch, grounded_prompt: perPrompt }),
            };
            const factors = reported.flatMap((name) => multipliers[name] ?? []);
            const rates = ratesOf(priced);
            const terms = { reported, webSearches };
            check(
              surchargedLines(rates, tokenLines(rates, used.all), terms),
              [
                ...tokenPartNames.map((part) => ({
                  price: priceOf(price, part),
                  per: 1_000_000,
                  quantity: used.disjoint[part],
                  times: factors,
                })),
                { price: perSearch ?? '0', per: 1, quantity: webSearches },
                { price: perPrompt ?? '0', per: 1, quantity: webSearches > 0 ? 1 : 0 },
              ],
              by,
            );
          },
        ),
        { numRuns: vectors },
      );
    },
    timeout,
  );

  const tiers = fc.array(fc.record({ pixels: fc.integer({ min: 1, max: 300 }), price: perUnit }), {
    minLength: 1,
    maxLength: 4,
  });
  const images = fc.array(
    fc.record({ side: fc.integer({ min: 1, max: 9 }), isLayer: fc.boolean() }),
    {
      maxLength: 20,
    },
  );

  it(
    'on pictures, their layers and references',
    () => {
      fc.assert(
        fc.property(
          tiers,
          images,
          decimalText(9, 3),
          perUnit,
          fc.nat(9),
          multiplier,
          (steps, images, layerFactor, referenceImage, references, by) => {
            let maxPixels = 0;
            const imageTiers = steps.map(({ pixels, price }, at) => {
              maxPixels += pixels;
              return { name: `t${at}`, maxPixels, price };
            });
            const price = { imageTiers, layerFactor, referenceImage };
            const returned = images.map(({ side, isLayer }) => ({
              size: `${side}x${side}`,
              isLayer,
            }));
            const lines = imageLines(ratesOf(price), returned, references);
            const tierOf = (side: number) =>
              imageTiers.filter((t) => t.maxPixels >= side * side)[0];
            if (images.some(({ side }) => tierOf(side) === undefined)) {
              expect(lines).toMatchObject({ unbillable: 'size_above_tiers' });
              return;
            }
            const items: OracleItem[] = images.map(({ side, isLayer }) => ({
              price: tierOf(side)?.price ?? '',
              per: 1,
              quantity: 1,
              ...(isLayer ? { share: layerFactor } : {}),
            }));
            items.push({ price: referenceImage, per: 1, quantity: Math.max(0, references - 1) });
            check(lines, items, by);
          },
        ),
        { numRuns: vectors },
      );
    },
    timeout,
  );

  /** To thirty thousand years: what a receipt's seconds can say to the millisecond. */
  const milliseconds = fc.oneof(fc.nat(20_000), fc.nat(10 ** 15));

  it(
    'on video',
    () => {
      fc.assert(
        fc.property(perUnit, perMillion, milliseconds, multiplier, (second, million, used, by) => {
          const bySecond = ratesOf({ videoSecond: { '720P': second } });
          check(
            [{ rate: bySecond.videoSecond.get('720P')!, quantity: used }],
            [{ price: second, per: 1, quantity: used, thousandths: true }],
            by,
          );
          const byToken = ratesOf({ videoTokens: { '4K': { text: '1', withVideo: million } } });
          check(
            [{ rate: byToken.videoTokens.get('4K')!.withVideo, quantity: used }],
            [{ price: million, per: 1_000_000, quantity: used }],
            by,
          );
        }),
        { numRuns: vectors },
      );
    },
    timeout,
  );
});

describe('P-11: a charge', () => {
  it('is never negative, and never less for more of anything', () => {
    fc.assert(
      fc.property(
        tokenPrice,
        tokens,
        multiplier,
        fc.constantFrom(...counts),
        fc.nat(100_000),
        (price, { all: used }, by, part, more) => {
          const larger = Math.min(used[part] + more, Number.MAX_SAFE_INTEGER);
          const { cost } = textCost(price, used, by);
          expect(cost).toBeGreaterThanOrEqual(0n);
          expect(textCost(price, { ...used, [part]: larger }, by).cost).toBeGreaterThanOrEqual(
            cost,
          );
        },
      ),
    );
  });

  it('does not depend on the order of its parts, nor on how they were cut', () => {
    fc.assert(
      fc.property(
        tokenPrice,
        tokens,
        multiplier,
        fc.integer({ min: 1, max: 9 }),
        fc.infiniteStream(fc.nat(1_000)),
        (price, used, by, cuts, order) => {
          const lines = tokenLines(ratesOf(price), used.all);
          const cut = lines.flatMap(({ rate, quantity }) => {
            const piece = Math.floor(quantity / cuts);
            const rest = quantity - piece * (cuts - 1);
            return [...Array<number>(cuts - 1).fill(piece), rest].map((part) => ({
              rate,
              quantity: part,
            }));
          });
          const shuffled = cut
            .map((line) => ({ line, at: order.next().value }))
            .toSorted((a, b) => a.at - b.at)
            .map(({ line }) => line);
          const by6 = parseMultiplier(by);
          expect(receiptOf(shuffled, by6).cost).toBe(receiptOf(lines, by6).cost);
        },
      ),
    );
  });

  it('of reasoning is the charge of the output it is part of', () => {
    fc.assert(
      fc.property(tokenPrice, tokens, (price, { all: used }) => {
        expect(textCost(price, { ...used, reasoning: used.output }, '1')).toEqual(
          textCost(price, { ...used, reasoning: 0 }, '1'),
        );
      }),
    );
  });
});

it('a hold covers every usage within its bounds, however the input is divided', () => {
  fc.assert(
    fc.property(
      tokenPrice,
      multiplier,
      fc.record({
        bodyBytes: fc.nat(64 * 1024 * 1024),
        outputLimit: fc.option(fc.oneof(fc.nat(200_000), fc.integer())),
        choices: fc.option(fc.integer({ min: -2, max: 128 })),
      }),
      fc.option(fc.integer({ min: 1, max: 200_000 })),
      fc.tuple(share, share, share, share),
      share,
      fc.tuple(shares, shares, shares),
      (price, by, demand, maxOutputTokens, inputShares, outputShare, parts) => {
        const bounds = tokenBounds({ maxOutputTokens }, demand);
        let left = Number(bounds.input);
        const inputs = inputShares.map((part, at) => {
          const taken = at === inputShares.length - 1 ? left : Math.floor(left * part);
          left -= taken;
          return taken;
        });
        const [input = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0] = inputs;
        const most = Number(bounds.output);
        const output = outputShare > 0.5 ? most : Math.floor(most * outputShare);
        const counts = { input, cacheRead, cacheWrite, cacheWrite1h, output, reasoning: 0 };
        const { all } = usedOf(counts, parts);
        const hold = holdOf(
          textBound(ratesOf(price), { maxOutputTokens }, demand),
          parseMultiplier(by),
        );
        const { cost } = textCost(price, all, by);
        expect(hold === 2n ** 63n - 1n || hold >= cost).toBe(true);
      },
    ),
    { numRuns: runs(500, 2_000) },
  );
});
