import {
  type JsonScan,
  parseOutline,
  type ParseRoom,
  type Range,
  watchList,
  splice,
  type Edit,
} from '#json/index.ts';
import { readModel } from '../shared/text/request-values.ts';
import { memberNames, type OpenedImages } from './types.ts';
import { namedStateReader } from '../shared/state/named-state.ts';
import { GatewayError } from '#errors/index.ts';
import { openForm } from './form-request.ts';

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

const watched = watchList([
  ...memberNames,
  'images',
  'sequential_image_generation_options.max_images',
]);

/**
 * Scans and parses a JSON body once, and reads the name of the model.
 * @param room bounds the memory for the parsed body; absent: unbounded
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`, `model_required`, and what `room` throws.
 */
export function openJson(form: OpenedImages['form'], body: Buffer, room?: ParseRoom): OpenedImages {
  const { scan, value: members } = parseOutline(body, watched, room);
  const model = readModel(members['model']);
  const promptRange = rangeOf(scan, 'prompt');
  return {
    form,
    encoding: 'json',
    body,
    contentType: 'application/json',
    model,
    modelRange: rangeOf(scan, 'model'),
    members,
    files: [],
    namedStates: readNamedState(members, body),
    promptRange,
    promptBytes: promptBytesIn(promptRange),
  };
}

function rangeOf(scan: JsonScan, member: string): Range {
  const range = scan.members.get(member);
  return range === undefined
    ? { start: 0, end: 0 }
    : { start: range.valueStart, end: range.valueEnd };
}

/** Without the quotes. Escapes count as they are written, which only makes a hold larger. */
export function promptBytesIn({ start, end }: Range): number {
  return Math.max(0, end - start - 2);
}

/** The members of a request in JSON that name something stored upstream. Responses give out no such names. */
const readNamedState = namedStateReader({
  root: {},
  anywhere: { file_id: { kind: 'file' } },
  opaque: [],
});
