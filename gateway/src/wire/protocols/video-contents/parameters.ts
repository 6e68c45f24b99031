import type { VideoResolution } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../shared/values.ts';
import type { Field, Shorthand } from './shorthands.ts';
import { refuseValue } from '../shared/text/request-values.ts';

/** What a request asks for, from its fields and the shorthands in its texts. */
export interface Parameters {
  readonly resolution: VideoResolution;
  /** Whole seconds. */
  readonly seconds: number;
  /** Null: the upstream decides. */
  readonly ratio: string | null;
  readonly seed: number | null;
}

const usual = { resolution: '720P', seconds: 5 } as const;

/**
 * Reads every value from all places that name it.
 * @throws GatewayError `invalid_value` if one is out of range, or if two places disagree
 */
export function readParameters(body: JsonRecord, shorthands: readonly Shorthand[]): Parameters {
  const all = <Value>(
    field: Field,
    givenValue: unknown,
    read: (value: unknown, param: string) => Value,
  ): Value | null => {
    const values = isAbsent(givenValue) ? [] : [read(givenValue, field)];
    for (const shorthand of shorthands) {
      if (shorthand.field === field) values.push(read(valueOf(shorthand), `--${field}`));
    }
    return agreed(field, values);
  };
  all('fps', null, requireUsualRate);
  // The number of frames must be the same, too.
  all('frames', body['frames'], toNumber);
  const frames = all('frames', body['frames'], framesToSeconds);
  const duration = all('duration', body['duration'], toSeconds);
  if (frames !== null && duration !== null && frames !== duration) {
    refuseValue('frames', `and duration disagree: at ${framesPerSecond} frames per second`);
  }
  return {
    resolution: all('resolution', body['resolution'], toResolution) ?? usual.resolution,
    seconds: duration ?? frames ?? usual.seconds,
    ratio: all('ratio', body['ratio'], toRatio),
    seed: all('seed', body['seed'], toSeed),
  };
}

/** Shorthands are text; fields are not. */
function valueOf({ field, value }: Shorthand): unknown {
  if (field === 'resolution' || field === 'ratio') return value;
  return /^-?\d{1,10}$/.test(value) ? Number(value) : value;
}

function agreed<Value>(field: Field, values: readonly Value[]): Value | null {
  const [first] = values;
  if (first === undefined) return null;
  if (values.some((value) => value !== first)) {
    refuseValue(field, 'has different values in the request');
  }
  return first;
}

const toNumber = (value: unknown): unknown => value;

function requireUsualRate(value: unknown, param: string): number {
  return value === framesPerSecond
    ? framesPerSecond
    : refuseValue(param, `must be ${framesPerSecond}`);
}

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
function toResolution(value: unknown, param: string): VideoResolution {
  const foundTier = typeof value === 'string' ? resolutions.get(value.toUpperCase()) : undefined;
  return foundTier ?? refuseValue(param, 'must be 480P, 720P, 1080P or 4K');
}

/** Whole seconds. */
function toSeconds(value: unknown, param: string): number {
  const fits = typeof value === 'number' && Number.isInteger(value);
  return fits && value >= shortest && value <= longest
    ? value
    : refuseValue(param, `must be an integer from ${shortest} to ${longest}`);
}

/** Frames are rounded up to whole seconds. */
function framesToSeconds(value: unknown, param: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value <= 0) {
    refuseValue(param, 'must be a whole number of frames');
  }
  const seconds = Math.ceil(value / framesPerSecond);
  const least = (shortest - 1) * framesPerSecond + 1;
  return seconds >= shortest && seconds <= longest
    ? seconds
    : refuseValue(param, `must be an integer from ${least} to ${longest * framesPerSecond}`);
}

function toRatio(value: unknown, param: string): string {
  if (typeof value === 'string') {
    if (value.toLowerCase() === 'adaptive') return 'adaptive';
    if (/^[1-9]\d{0,4}:[1-9]\d{0,4}$/.test(value)) return value;
  }
  return refuseValue(param, "must be <width>:<height> or 'adaptive'");
}

function toSeed(value: unknown, param: string): number {
  const fits = typeof value === 'number' && Number.isInteger(value);
  return fits && value >= -1 && value <= largestSeed
    ? value
    : refuseValue(param, `must be -1, or an integer from 0 to ${largestSeed}`);
}
