import type { ImageRequest } from '#protocols/index.ts';
import type { RequestMemory } from '../exchange/input.ts';
import type { ImageBody } from './input.ts';

/** Memory of a conversion, for each byte of a body: the body, its pictures in Base64 (4/3), and what is sent (4/3). */
const perByte = 4;

/**
 * The request with its whole body in memory, to be converted.
 * @param memory absent: it is not limited
 * @throws GatewayError `overloaded` if there is no room; SpoolFailure
 */
export async function inMemory(
  request: ImageRequest<ImageBody>,
  memory: RequestMemory | undefined,
): Promise<ImageRequest> {
  const { body } = request;
  if (Buffer.isBuffer(body)) return { ...request, body };
  if (memory?.tryMore(perByte * body.length) === false) throw memory.refuse();
  return { ...request, body: await body.whole() };
}
