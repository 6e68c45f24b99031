import type { Line } from './cost.ts';
import type { Unbillable } from './image-lines.ts';
import type { PriceRates } from './rates.ts';

/** Video charged by generated time, to the millisecond. */
export function videoSecondLines(
  { videoSecond }: PriceRates,
  { resolution, milliseconds }: { readonly resolution: string; readonly milliseconds: number },
): Line[] | Unbillable {
  const rate = videoSecond.get(resolution);
  return rate === undefined ? unpriced(resolution) : [{ rate, quantity: milliseconds }];
}

/** Video charged by the upstream's `total_tokens`, at the rate that the request's own parameters determined. */
export function videoTokenLines(
  { videoTokens }: PriceRates,
  asked: {
    readonly resolution: string;
    /** The references included a video. */
    readonly withVideo: boolean;
    readonly totalTokens: number;
  },
): Line[] | Unbillable {
  const rates = videoTokens.get(asked.resolution);
  if (rates === undefined) return unpriced(asked.resolution);
  return [{ rate: asked.withVideo ? rates.withVideo : rates.text, quantity: asked.totalTokens }];
}

function unpriced(resolution: string): Unbillable {
  return { unbillable: 'resolution_unpriced', detail: resolution };
}
