import { InputTally, recordsIn, type InputExtent } from '../../shared/text/input-extent.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';
import { camelCase, member } from '../fields.ts';

/** What the bytes of a request do not reveal about its input. */
export function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  if (member(json, 'cachedContent') !== undefined) tally.file(null);
  for (const said of [json['contents'], member(json, 'systemInstruction')]) {
    for (const { parts } of records(said)) for (const part of records(parts)) addPart(tally, part);
  }
  const isHosted = (name: string): boolean => camelCase(name) !== 'functionDeclarations';
  tally.hostedTools = records(json['tools']).some((tool) => Object.keys(tool).some(isHosted));
  return tally;
}

function addPart(tally: InputTally, part: JsonRecord): void {
  const carried = member(part, 'inlineData');
  if (isRecord(carried)) tally.data(member(carried, 'mimeType'), member(carried, 'data'));
  const named = member(part, 'fileData');
  if (isRecord(named)) {
    const mime = member(named, 'mimeType');
    tally.url(member(named, 'fileUri'), typeof mime === 'string' && /^\s*image\//i.test(mime));
  }
  const response = member(part, 'functionResponse');
  if (isRecord(response)) for (const inner of records(response['parts'])) addPart(tally, inner);
}

/** This API's reader of proto3 JSON accepts a single object in place of a list. */
function records(value: unknown): Generator<JsonRecord> {
  return recordsIn(isRecord(value) ? [value] : value);
}
