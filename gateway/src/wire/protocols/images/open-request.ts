import { GatewayError } from '#errors/index.ts';
import { type ParseRoom, splice, type Edit } from '#json/index.ts';
import { openForm } from './form-request.ts';
import { openJson } from './json-request.ts';
import type { OpenedImages } from './types.ts';

/**
 * Scans the JSON body of a generation once, and reads the name of the model.
 * @param room bounds the memory for the parsed body; absent: unbounded
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `model_required`, and what `room` throws.
 */
export function openGeneration(body: Buffer, room?: ParseRoom): OpenedImages {
  return openJson('generation', body, room);
}

/**
 * Scans the body of an edit once, a form or JSON, and reads the name of the model.
 * @param contentType as the client sent it
 * @param room bounds the memory for the parsed body; absent: unbounded
 * @throws GatewayError as `openGeneration`; `unsupported_content_type`, `invalid_value` for a broken form
 */
export function openEdit(body: Buffer, contentType: string, room?: ParseRoom): OpenedImages {
  const [type = ''] = contentType.split(';', 1);
  switch (type.trim().toLowerCase()) {
    case 'application/json':
      return openJson('edit', body, room);
    case 'multipart/form-data':
      return openForm(body, contentType);
    default:
  }
  throw new GatewayError('unsupported_content_type');
}

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
