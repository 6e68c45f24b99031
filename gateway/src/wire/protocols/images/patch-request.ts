import { splice } from '#json/index.ts';
import type { OpenedImages } from './types.ts';

type Patched = Pick<OpenedImages, 'body' | 'contentType'>;
type Patchable = Pick<OpenedImages, 'body' | 'contentType' | 'encoding' | 'model' | 'modelRange'>;

/**
 * The body for one upstream: its name of the model, every other byte as the client sent it. The same buffer if the
 * upstream uses the client's name.
 */
export function patchRequest(request: Patchable, upstreamModel: string): Patched {
  const { body, contentType, encoding, model, modelRange } = request;
  if (model === upstreamModel) return { body, contentType };
  const name = encoding === 'json' ? JSON.stringify(upstreamModel) : upstreamModel;
  return { body: splice(body, [{ ...modelRange, bytes: Buffer.from(name) }]), contentType };
}
