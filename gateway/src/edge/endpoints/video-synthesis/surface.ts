import type { ErrorShape, Surface } from '#http/index.ts';
import { encodeSynthesisError } from '#protocols/index.ts';

const base = '/v1';
const shape: ErrorShape = { encodeError: encodeSynthesisError };

/** The paths of the first video protocol. They have no routes yet; their errors already have its form. */
export const videoSynthesisSurfaces: readonly Surface[] = [
  { prefix: '/v1/services/', base, shape },
  { prefix: '/v1/tasks/', base, shape },
];
