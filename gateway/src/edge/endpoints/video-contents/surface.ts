import type { Surface } from '#http/index.ts';
import { encodeContentsError } from '#protocols/index.ts';

/** The paths of the second video protocol. They have no routes yet; their errors already have its form. */
export const videoContentsSurface: Surface = {
  prefix: '/api/v3/',
  base: '/api/v3',
  shape: { encodeError: encodeContentsError },
};
