import type { VideoResolution } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../shared/values.ts';
import { refuseVideo } from '../shared/video/video-values.ts';
import type { Field, Shorthand } from './shorthands.ts';
import {
  framesPerSecond,
  framesToSeconds,
  toRatio,
  toResolution,
  toSeconds,
  toSeed,
} from './values.ts';

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
    given: unknown,
    read: (value: unknown, param: string) => Value,
  ): Value | null => {
    const values = isAbsent(given) ? [] : [read(given, field)];
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
    refuseVideo('frames', `and duration disagree: at ${framesPerSecond} frames per second`);
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
    refuseVideo(field, 'has different values in the request');
  }
  return first;
}

const toNumber = (value: unknown): unknown => value;

function requireUsualRate(value: unknown, param: string): number {
  return value === framesPerSecond
    ? framesPerSecond
    : refuseVideo(param, `must be ${framesPerSecond}`);
}
