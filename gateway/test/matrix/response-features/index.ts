import { calls, thoughts } from './calls.ts';
import { failures, whys } from './endings.ts';
import type { ResponseFeature } from './feature.ts';
import { hosted, media } from './media.ts';
import { numbers } from './numbers.ts';
import { words } from './words.ts';

/** Everything that a response can hold. */
export const responseFeatures: readonly ResponseFeature[] = [
  ...words,
  ...calls,
  ...thoughts,
  ...media,
  ...hosted,
  ...whys,
  ...numbers,
  ...failures,
];
