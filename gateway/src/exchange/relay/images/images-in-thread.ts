import { pictureRequestOf } from '#body-work/index.ts';
import type { PictureRequest } from '#canonical/index.ts';
import { editAsGeneration } from '#conversion/index.ts';
import { type ImageRequest, pictures } from '#protocols/index.ts';
import { isReadInThread } from '../attempts/in-thread.ts';
import type { RequestMemory } from '../exchange/input.ts';
import type { ImageBody, ImageInput, ImageParts } from './prepared.ts';

type Parts = Pick<ImageParts, 'bodies'>;
type Input = Pick<ImageInput, 'caller' | 'memory'>;

/**
 * The request in its neutral form. Large JSON is read in a thread.
 * @throws GatewayError, SpoolFailure
 */
export async function decodeImages(
  { bodies }: Parts,
  { caller, memory }: Input,
  request: ImageRequest<ImageBody>,
): Promise<PictureRequest> {
  const whole = await inMemory(request, memory);
  const job = jobOf(request, whole);
  if (job === null) return pictures.images.decodeRequest(whole);
  const { body, request: opened } = job;
  const running = bodies.run(caller.keyId, { kind: 'images-pictures', body, opened });
  const { body: returned, outcome } = await running.result;
  if ('error' in outcome) throw outcome.error;
  return pictureRequestOf(outcome.value, returned);
}

/**
 * An edit as a generation. Large JSON is read in a thread.
 * @throws GatewayError, SpoolFailure
 */
export async function generationOf(
  { bodies }: Parts,
  { caller, memory }: Input,
  request: ImageRequest<ImageBody>,
): Promise<ImageRequest> {
  const whole = await inMemory(request, memory);
  const job = jobOf(request, whole);
  if (job === null) return editAsGeneration(whole);
  const running = bodies.run(caller.keyId, { kind: 'edit-as-generation', ...job });
  const { outcome } = await running.result;
  if ('error' in outcome) throw outcome.error;
  const { body, ...rest } = outcome.value;
  // The pool gives bodies back as Buffers.
  return { ...rest, body: body as Buffer };
}

/** Null for a request that is read here: of a form only the fields are read. */
function jobOf({ body: original }: ImageRequest<ImageBody>, { body, ...request }: ImageRequest) {
  if (request.encoding === 'multipart' || !isReadInThread(body)) return null;
  // Its body is handed over, and may be sent to other channels.
  return { request, body: Buffer.isBuffer(original) ? Buffer.from(body) : body };
}

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
