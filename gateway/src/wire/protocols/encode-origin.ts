import type { GenerationRequest } from '#canonical/index.ts';
import type { EncodeTarget } from './codec.ts';
import type { Losses } from './losses.ts';
import type { JsonRecord } from './values.ts';

/**
 * The members of chat and responses for the end user and for the shared prompt cache. Most servers know only the older
 * name of the first, and no cache keys.
 */
export function encodeOrigin(
  { cacheKey, endUser }: GenerationRequest,
  { traits }: Pick<EncodeTarget, 'traits'>,
  losses: Losses,
): JsonRecord {
  const { cacheKeys, renamedMembers } = traits;
  if (cacheKey !== null && !cacheKeys) losses.dropped('cache_key');
  return {
    ...(cacheKey !== null && cacheKeys && { prompt_cache_key: cacheKey }),
    ...(endUser !== null && { [renamedMembers ? 'safety_identifier' : 'user']: endUser }),
  };
}
