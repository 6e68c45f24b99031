import type { VideoResolution } from '#canonical/index.ts';
import { refuseVideo } from '../shared/video/video-values.ts';

/** The values of a request, by every name that they have: as fields and as shorthands. */

const resolutions: ReadonlyMap<string, VideoResolution> = new Map([
  ['480P', '480P'],
  ['720P', '720P'],
  ['1080P', '1080P'],
  ['4K', '4K'],
  ['480', '480P'],
  ['720', '720P'],
  ['1080', '1080P'],
  ['2160P', '4K'],
]);

export const framesPerSecond = 24;
const longest = 15;
const shortest = 4;
const largestSeed = 2_147_483_647;

/** @throws GatewayError `invalid_value`, like the others here */
export function toResolution(value: unknown, param: string): VideoResolution {
  const found = typeof value === 'string' ? resolutions.get(value.toUpperCase()) : undefined;
  return found ?? refuseVideo(param, 'must be 480P, 720P, 1080P or 4K');
}

/** Whole seconds. */
export function toSeconds(value: unknown, param: string): number {
  const fits = typeof value === 'number' && Number.isInteger(value);
  return fits && value >= shortest && value <= longest
    ? value
    : refuseVideo(param, `must be an integer from ${shortest} to ${longest}`);
}

/** Frames are rounded up to whole seconds. */
export function framesToSeconds(value: unknown, param: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0) {
    refuseVideo(param, 'must be a whole number of frames');
  }
  const seconds = Math.ceil(value / framesPerSecond);
  const least = (shortest - 1) * framesPerSecond + 1;
  return seconds >= shortest && seconds <= longest
    ? seconds
    : refuseVideo(param, `must be an integer from ${least} to ${longest * framesPerSecond}`);
}

export function toRatio(value: unknown, param: string): string {
  if (typeof value === 'string') {
    if (value.toLowerCase() === 'adaptive') return 'adaptive';
    if (/^[1-9]\d{0,4}:[1-9]\d{0,4}$/.test(value)) return value;
  }
  return refuseVideo(param, "must be <width>:<height> or 'adaptive'");
}

export function toSeed(value: unknown, param: string): number {
  const fits = typeof value === 'number' && Number.isInteger(value);
  return fits && value >= -1 && value <= largestSeed
    ? value
    : refuseVideo(param, `must be -1, or an integer from 0 to ${largestSeed}`);
}
