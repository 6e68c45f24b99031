import {
  addFile,
  InputTally,
  recordsIn,
  type InputExtent,
} from '../../shared/text/input-extent.ts';
import { isAbsent, isRecord, recordAt, type JsonRecord } from '../../shared/values.ts';

/** Parts that consist of text. */
const textual: ReadonlySet<unknown> = new Set([
  'text',
  'refusal',
  'thinking',
  'reasoning',
  'input_text',
  'output_text',
]);

/** What the bytes of a chat request do not reveal about its input. */
export function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  for (const { content, audio } of recordsIn(json['messages'])) {
    for (const part of recordsIn(content)) addPart(tally, part);
    // An earlier spoken response is named by its id.
    if (isRecord(audio)) tally.file(null);
  }
  const isClients = ({ type }: JsonRecord): boolean =>
    isAbsent(type) || type === 'function' || type === 'custom';
  tally.hostedTools =
    isRecord(json['web_search_options']) || !recordsIn(json['tools']).every(isClients);
  return tally;
}

function addPart(tally: InputTally, part: JsonRecord): void {
  const { type } = part;
  if (type === 'image_url') tally.url(urlOf(part[type]), true);
  else if (type === 'video_url') tally.url(urlOf(part[type]), false);
  else if (type === 'file') addFile(tally, recordAt(part, type)['file_data']);
  else if (type === 'input_audio') tally.file(recordAt(part, type)['data'], true);
  else if (!textual.has(type)) tally.unseen = true;
}

/** Some clients write the URL alone. */
function urlOf(value: unknown): unknown {
  return isRecord(value) ? value['url'] : value;
}
