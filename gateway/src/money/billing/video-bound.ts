import type { VideoDemand, VideoProtocolName, VideoResolution } from '#canonical/index.ts';
import type { CostLine } from './cost.ts';
import type { PriceRates, Rate } from './rates.ts';

const framesPerSecond = 24n;
/** Pixels for which the vendor counts one token. */
const pixelsPerToken = 1024n;

/** The most pixels that a frame of this resolution has, over all ratios. */
const pixels: Readonly<Record<VideoResolution, bigint>> = {
  '480P': 430_000n,
  '720P': 1_000_000n,
  '1080P': 2_200_000n,
  '4K': 8_900_000n,
};

type VideoRates = Pick<PriceRates, 'videoSecond' | 'videoTokens'>;

/** Whether this resolution has a price in the unit that the upstreams of this dialect report. */
export function pricesVideo(
  { videoSecond, videoTokens }: VideoRates,
  dialect: VideoProtocolName,
  resolution: VideoResolution,
): boolean {
  return (dialect === 'video-synthesis' ? videoSecond : videoTokens).has(resolution);
}

/**
 * The most that a video can use: milliseconds if the model is priced by the second, else tokens.
 * @throws RangeError for a resolution without a price, which is refused before (`pricesVideo`).
 */
export function videoBound(rates: VideoRates, demand: VideoDemand): readonly [CostLine<bigint>] {
  const perSecond = rates.videoSecond.get(demand.resolution);
  const dialect = perSecond === undefined ? 'video-contents' : 'video-synthesis';
  const rate = perSecond ?? tokenRate(rates, demand);
  return [{ rate, quantity: videoQuantity(dialect, demand) }];
}

function tokenRate({ videoTokens }: VideoRates, { resolution, withVideo }: VideoDemand): Rate {
  const rates = videoTokens.get(resolution);
  if (rates === undefined) throw new RangeError(`no price for ${resolution}`);
  return withVideo ? rates.withVideo : rates.text;
}

/**
 * What a video of this demand uses at most, in the unit of the dialect: milliseconds, or tokens by the vendor's formula,
 * rounded up. A source video is counted like another one of the same length.
 */
export function videoQuantity(
  dialect: VideoProtocolName,
  { resolution, seconds, withVideo }: VideoDemand,
): bigint {
  if (dialect === 'video-synthesis') return BigInt(seconds) * 1000n;
  const countedSeconds = BigInt(seconds) * (withVideo ? 2n : 1n);
  const shownPixels = pixels[resolution] * framesPerSecond * countedSeconds;
  return (shownPixels + pixelsPerToken - 1n) / pixelsPerToken;
}
