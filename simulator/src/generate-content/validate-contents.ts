import { isObject, isPresent, stringAt, type JsonObject } from '../json.ts';
import { invalid, invalidField } from './protocol.ts';

/** A part has exactly one of these. Unknown members beside them pass. */
const dataFields = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];

/** Checks every content by itself. @throws Rejection */
export function checkContents(contents: readonly unknown[]): void {
  contents.forEach((content, index) => {
    const path = `contents[${index}]`;
    if (!isObject(content)) throw invalid(`Invalid value at '${path}'`);
    if (content['role'] !== 'user' && content['role'] !== 'model') {
      throw invalid('Please use a valid role: user, model.');
    }
    const { parts } = content;
    const list: unknown = isObject(parts) ? [parts] : parts;
    if (!Array.isArray(list) || list.length === 0) {
      throw invalidField(`${path}.parts`, 'contents.parts must not be empty.');
    }
    list.forEach((part: unknown, position) => checkPart(part, `${path}.parts[${position}]`));
  });
}

function checkPart(part: unknown, path: string): void {
  if (!isObject(part)) throw invalid(`Invalid value at '${path}'`);
  const present = dataFields.filter((field) => isPresent(part[field]));
  if (present.length > 1) {
    throw invalid(
      `Invalid value at '${path}' (oneof), oneof field 'data' is already set. Cannot set '${present[1] ?? ''}'`,
    );
  }
  if (present.length === 0 && !isPresent(part['thoughtSignature'])) {
    throw invalidField(
      `${path}.data`,
      "required oneof field 'data' must have one initialized field",
    );
  }
  checkText(part, path);
  checkInlineData(part['inlineData'], path);
  checkCall(part['functionCall'], 'function_call', 'args', path);
  checkCall(part['functionResponse'], 'function_response', 'response', path);
}

/** An empty text may carry a signature only. */
function checkText(part: JsonObject, path: string): void {
  const { text } = part;
  if (!isPresent(text)) return;
  if (typeof text !== 'string') throw invalid(`Invalid value at '${path}.text' (TYPE_STRING)`);
  if (text === '' && !isPresent(part['thoughtSignature']) && part['thought'] !== true) {
    throw invalid('Unable to submit request because it must have a text parameter.');
  }
}

function checkInlineData(inline: unknown, path: string): void {
  if (!isPresent(inline)) return;
  if (stringAt(inline, 'mimeType') === '') {
    throw invalidField(`${path}.inline_data.mime_type`, 'mime_type must be set');
  }
  if (!/^[A-Za-z0-9+/_-]+=*$/.test(stringAt(inline, 'data'))) {
    throw invalid(
      `Invalid value at '${path}.inline_data.data' (TYPE_BYTES), Base64 decoding failed`,
    );
  }
}

function checkCall(call: unknown, field: string, data: string, path: string): void {
  if (!isPresent(call)) return;
  if (stringAt(call, 'name') === '') {
    throw invalidField(`${path}.${field}.name`, 'Name cannot be empty.');
  }
  const value = isObject(call) ? call[data] : undefined;
  if (isPresent(value) && !isObject(value)) {
    throw invalid(
      `Invalid value at '${path}.${field}.${data}' (type.googleapis.com/google.protobuf.Struct), ${JSON.stringify(value)}`,
    );
  }
}
