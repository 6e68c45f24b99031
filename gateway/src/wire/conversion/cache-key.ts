import type { GenerationRequest, TextProtocolName } from '#canonical/index.ts';
import { digest, type CodecTraits } from '#protocols/index.ts';

/**
 * Messages clients mark where a cache ends but send no key that their requests share; agents put the session into the
 * end user's name. Upstreams that find caches by key receive one derived from it, so that the requests of one session
 * share a cache, and requests of different gateway keys never do.
 */
export function deriveCacheKey(
  request: GenerationRequest,
  client: TextProtocolName,
  { cacheKey: isTaken }: CodecTraits,
  keyId: string,
): GenerationRequest {
  const { endUser, cacheKey } = request;
  if (client !== 'messages' || !isTaken || endUser === null || cacheKey !== null) return request;
  return { ...request, cacheKey: digest(32, `${keyId} ${endUser}`) };
}
