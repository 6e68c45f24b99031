import type { Surface } from '#http/index.ts';
import { encodeContentsError } from '#protocols/index.ts';

/** The paths of the second dialect of video tasks. */
export const videoContentsSurface: Surface = {
  prefix: '/api/v3/',
  base: '/api/v3',
  shape: { encodeError: encodeContentsError },
};
