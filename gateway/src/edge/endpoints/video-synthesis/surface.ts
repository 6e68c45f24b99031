import type { ErrorShape, Surface } from '#http/index.ts';
import { encodeSynthesisError } from '#protocols/index.ts';
import { bases } from './bases.ts';

const shape: ErrorShape = { encodeError: encodeSynthesisError };

/** The paths of the first dialect of video tasks. */
export const videoSynthesisSurfaces: readonly Surface[] = bases.flatMap((base) => [
  { prefix: `${base}/services/`, base, shape },
  { prefix: `${base}/tasks/`, base, shape },
]);
