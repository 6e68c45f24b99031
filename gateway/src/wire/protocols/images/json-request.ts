import { type JsonScan, parseOutline, type ParseRoom, type Range, watchList } from '#json/index.ts';
import { readModel } from '../shared/text/request-values.ts';
import { memberNames, type OpenedImages } from './types.ts';
import { namedStateReader } from '../shared/state/named-state.ts';

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
    named: readNamedState(members, body),
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
