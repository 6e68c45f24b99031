import { functions, isReadInThread, type BodyPool } from '#body-work/index.ts';
import type { ImageRequest } from '#canonical/index.ts';
import type { ImagesRequest } from '#protocols/index.ts';
import type { ImageBody, ImageInput } from './prepared.ts';

/** Memory of a conversion, for each byte of a body: the body, its images in Base64 (4/3), and what is sent (4/3). */
const perByte = 4;

interface Results {
  readonly decodeImages: ImageRequest;
  readonly editAsGeneration: ImagesRequest;
}

/**
 * Calls a function with the whole request: `decodeImages` for its neutral form, `editAsGeneration` for upstreams that take
 * no edits. Large JSON is read in a thread; of a form only the fields are read.
 * @throws GatewayError `overloaded` if there is no room, and what the function throws; SpoolFailure
 */
export async function callWithImages<Name extends keyof Results>(
  { bodies }: { readonly bodies: BodyPool },
  { caller, memory }: Pick<ImageInput, 'caller' | 'memory'>,
  name: Name,
  request: ImagesRequest<ImageBody>,
): Promise<Results[Name]> {
  const { body } = request;
  const isStored = !Buffer.isBuffer(body);
  if (isStored && memory?.tryMore(perByte * body.length) === false) throw memory.refuse();
  const whole = { ...request, body: isStored ? await body.whole() : body };
  if (request.encoding === 'multipart' || !isReadInThread(whole.body, bodies.weights)) {
    return (functions[name] as (request: ImagesRequest) => Results[Name])(whole);
  }
  // The body is handed over, and may be sent to other channels.
  if (!isStored) whole.body = Buffer.from(whole.body);
  return bodies.run(caller.keyId, name, whole).result as Promise<Results[Name]>;
}
