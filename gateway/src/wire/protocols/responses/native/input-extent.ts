import {
  addFile,
  InputTally,
  recordsIn,
  type InputExtent,
} from '../../shared/text/input-extent.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../shared/values.ts';

/** Members that name input stored upstream. */
const kept = ['previous_response_id', 'conversation', 'prompt'] as const;

/** Parts that consist of text. */
const textual: ReadonlySet<unknown> = new Set([
  'input_text',
  'output_text',
  'text',
  'refusal',
  'summary_text',
  'reasoning_text',
]);

/** Tools that the client runs. Their results come with the next request. */
const clients: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'namespace',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
]);

/** What the bytes of a Responses request do not reveal about its input. */
export function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  for (const name of kept) if (!isAbsent(json[name])) tally.file(null);
  for (const item of recordsIn(json['input'])) addItem(tally, item);
  tally.hostedTools = !recordsIn(json['tools']).every(({ type }) => clients.has(type));
  return tally;
}

function addItem(tally: InputTally, { type, content, output, result }: JsonRecord): void {
  if (type === 'item_reference') tally.unseen = true;
  // An image that the upstream made: its bytes, or its id alone.
  if (type === 'image_generation_call') tally.image(result);
  for (const part of recordsIn(content)) addPart(tally, part);
  if (isRecord(output)) addPart(tally, output);
  // Traces of hosted tools have other lists, which are text.
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
