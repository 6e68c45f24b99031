import { addFile, InputTally, recordsIn, type InputExtent } from '../../input-extent.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../values.ts';

/** Each names something that the upstream keeps and reads as input. */
const kept = ['previous_response_id', 'conversation', 'prompt'] as const;

/** Parts that are no more than what they say. */
const textual: ReadonlySet<unknown> = new Set([
  'input_text',
  'output_text',
  'text',
  'refusal',
  'summary_text',
  'reasoning_text',
]);

/** Tools that the client runs; what they give comes with the next request. */
const clients: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'namespace',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
]);

/** What of a Responses request's input its bytes do not tell. */
export function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  for (const name of kept) if (!isAbsent(json[name])) tally.file(null);
  for (const item of recordsIn(json['input'])) addItem(tally, item);
  tally.hostedTools = !recordsIn(json['tools']).every(({ type }) => clients.has(type));
  return tally;
}

function addItem(tally: InputTally, { type, content, output, result }: JsonRecord): void {
  if (type === 'item_reference') tally.unseen = true;
  // A picture the upstream has painted: its bytes, or none and its id.
  if (type === 'image_generation_call') tally.image(result);
  for (const part of recordsIn(content)) addPart(tally, part);
  if (isRecord(output)) addPart(tally, output);
  // Traces of the upstream's own tools have lists of another kind, which are text.
  if (type === 'function_call_output' || type === 'custom_tool_call_output') {
    for (const part of recordsIn(output)) addPart(tally, part);
  }
}

function addPart(tally: InputTally, part: JsonRecord): void {
  const { type, image_url: image, file_data: data } = part;
  if (type === 'input_image' || type === 'computer_screenshot') tally.url(image, true);
  else if (type === 'input_file') addFile(tally, data);
  else if (!textual.has(type)) tally.unseen = true;
}
