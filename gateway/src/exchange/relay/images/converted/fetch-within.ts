import type { FetchMedia } from '#conversion/index.ts';
import type { RequestMemory } from '../../exchange/input.ts';

/** In bytes: the most that is fetched. */
const largestPicture = 30 * 1024 * 1024;
/** Memory for each byte of a picture that was fetched: itself, in Base64 (4/3), and what is sent (4/3). */
const perByte = 4;

type Memory = Pick<RequestMemory, 'tryMore' | 'refuse'>;

/**
 * Fetches pictures within the memory for bodies. A client sends a few bytes for each.
 * @param memory absent: it is not limited
 */
export function fetchWithin(memory: Memory | undefined, fetchPicture: FetchMedia): FetchMedia {
  if (memory === undefined) return fetchPicture;
  return async (url) => {
    if (!memory.tryMore(largestPicture)) throw memory.refuse();
    let fetched;
    try {
      fetched = await fetchPicture(url);
    } finally {
      memory.tryMore(-largestPicture);
    }
    if (!memory.tryMore(perByte * fetched.bytes.length)) throw memory.refuse();
    return fetched;
  };
}
