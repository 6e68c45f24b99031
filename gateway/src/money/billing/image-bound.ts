import type { Model } from '#catalogue/index.ts';
import type { CostLine } from './cost.ts';
import {
  countOf,
  bytesPerToken,
  dearestFactor,
  feeBounds,
  usualOutput,
  usualSearches,
} from './hold-bound.ts';
import { dearestOf, dearestRatesFor, fullReach, type PriceRates } from './rates.ts';

/** How many images a request asks for, and with what. The numbers are the client's. */
export interface ImageDemand {
  /** Images asked for: `n`, or the largest number of a set. */
  readonly images: number;
  /** One image is divided into layers, of which each costs a share of a whole one. */
  readonly layers: boolean;
  /** Source images in the request. */
  readonly sources: number;
  /** Of the prompt. */
  readonly promptBytes: number;
  /** Requested terms that may multiply the price of tokens, such as `service_tier.priority`. Absent: none. */
  readonly terms?: readonly string[];
  /** The provider may search. Absent: it may not. */
  readonly searches?: boolean;
}

/** The most layers that an image becomes, not counting its base. */
export const mostLayers = 16n;
/** The assumed tokens of a source image. */
const sourceTokens = 16_384n;

/**
 * What a price lacks that such a request may be charged by; null: nothing. Parts have no silent defaults; 0 is free.
 * Source images cost extra from the second on.
 */
export function unpricedPart(
  rates: PriceRates,
  { layers, sources }: Pick<ImageDemand, 'layers' | 'sources'>,
): 'images' | 'layers' | 'references' | null {
  if (rates.imageTiers.length === 0) return rates.tokens === null ? 'images' : null;
  if (layers && rates.imageTiers.some(({ layer }) => layer === null)) return 'layers';
  return sources < 2 || rates.referenceImage !== null ? null : 'references';
}

/**
 * The most that images can use, for the hold. By tiers the returned size decides, so each counts as the dearest one.
 * @throws RangeError for a price that lacks a part which the request needs (`unpricedPart`).
 */
export function imageBound(
  rates: PriceRates,
  model: Pick<Model, 'maxOutputTokens'>,
  demand: ImageDemand,
): readonly CostLine<bigint>[] {
  if (unpricedPart(rates, demand) !== null) throw new RangeError('no price for pictures');
  const images = countOf(demand.images) ?? 1n;
  const sources = countOf(demand.sources) ?? 0n;
  const fees = demand.searches === true ? feeBounds(rates, BigInt(usualSearches)) : [];
  const input = (countOf(demand.promptBytes / bytesPerToken) ?? 0n) + sources * sourceTokens;
  const dearest = dearestRatesFor(rates, input, fullReach);
  if (dearest !== null && rates.imageTiers.length === 0) {
    const output = BigInt(model.maxOutputTokens ?? usualOutput);
    const { terms = [] } = demand;
    const lines = [
      { rate: dearest.input, quantity: input },
      { rate: dearest.output, quantity: output * images },
    ];
    const factor = terms.length === 0 ? undefined : dearestFactor(rates, terms);
    const tokens = factor === undefined ? lines : lines.map((line) => ({ ...line, factor }));
    return [...tokens, ...fees];
  }
  const lines = [{ rate: dearestOf(rates.imageTiers.map(({ image }) => image)), quantity: images }];
  if (demand.layers) {
    const rate = dearestOf(rates.imageTiers.flatMap(({ layer }) => layer ?? []));
    lines.push({ rate, quantity: images * mostLayers });
  }
  if (sources > 1n && rates.referenceImage !== null) {
    lines.push({ rate: rates.referenceImage, quantity: sources - 1n });
  }
  return [...lines, ...fees];
}
