import { splice, type Edit } from '#json/index.ts';
import type { OpenedImages } from './types.ts';

type Named = Pick<OpenedImages, 'encoding' | 'model' | 'modelRange'>;

/** The upstream's name of the model in place of the client's; null if they are the same. */
export function modelEdit({ encoding, model, modelRange }: Named, name: string): Edit | null {
  if (model === name) return null;
  return { ...modelRange, bytes: Buffer.from(encoding === 'json' ? JSON.stringify(name) : name) };
}

/**
 * The body for one upstream: its name of the model, every other byte as the client sent it. The same buffer if the
 * upstream uses the client's name.
 */
export function patchRequest(
  request: Named & Pick<OpenedImages, 'body' | 'contentType'>,
  upstreamModel: string,
): Pick<OpenedImages, 'body' | 'contentType'> {
  const { body, contentType } = request;
  const edit = modelEdit(request, upstreamModel);
  return { body: edit === null ? body : splice(body, [edit]), contentType };
}
