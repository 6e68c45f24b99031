import type { GenerationRequest, TextProtocolName } from '#canonical/index.ts';
import { digest, type CodecTraits } from '#protocols/index.ts';

/**
 * Clients of messages mark where a cache ends, and name nothing that their requests share; agents write the session
 * into the end user's name. Upstreams that find caches by a key are given one of it, so that the requests of one
 * session meet, and those of two gateway keys never do.
 */
export function nameCache(
  request: GenerationRequest,
  client: TextProtocolName,
  { cacheKey: isTaken }: CodecTraits,
  keyId: string,
): GenerationRequest {
  const { endUser, cacheKey } = request;
  if (client !== 'messages' || !isTaken || endUser === null || cacheKey !== null) return request;
  return { ...request, cacheKey: digest(32, `${keyId} ${endUser}`) };
}
