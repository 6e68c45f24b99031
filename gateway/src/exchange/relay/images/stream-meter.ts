import type { ImageEntry, PictureStreamTap } from '#protocols/index.ts';
import type { UnitsRecord } from '#usage/index.ts';
import type { Measured } from '../exchange/measured.ts';
import {
  measureImages,
  measureWithoutPictures,
  unitsOf,
  type MeasuredRequest,
  type Uncharged,
} from './measure-images.ts';

type Seen = Pick<PictureStreamTap, 'entries' | 'inputImages' | 'usage'>;

/** Measures what has come of a stream. */
export interface StreamMeter {
  /** Whether a final picture can be charged: otherwise the client must not get it. */
  accepts(entry: ImageEntry): boolean;
  /** What the pictures so far cost, or why they cannot be charged. */
  measure(seen: Seen): Measured | Uncharged;
  /** What the upstream has made so far, for the operator. */
  unitsOf(seen: Seen): UnitsRecord;
}

/** @param mayLackPictures the client is shown a response without any picture, too */
export function createStreamMeter(
  prepared: MeasuredRequest,
  missingUsage: 'estimate' | 'zero' | 'error',
  mayLackPictures = false,
): StreamMeter {
  return {
    accepts(entry) {
      const alone = { entries: [entry], size: null, inputImages: null, usage: null };
      // The usage may still come.
      return !isUncharged(measureImages(alone, prepared, 'zero'));
    },
    measure(seen) {
      if (mayLackPictures && seen.entries.length === 0) {
        return measureWithoutPictures(seen.usage, prepared);
      }
      return measureImages(answeredOf(seen), prepared, missingUsage);
    },
    unitsOf: (seen) => unitsOf(answeredOf(seen), prepared),
  };
}

export function isUncharged(measured: Measured | Uncharged): measured is Uncharged {
  return typeof measured === 'string';
}

function answeredOf({ entries, inputImages, usage }: Seen) {
  return { entries, inputImages, usage, size: null };
}
