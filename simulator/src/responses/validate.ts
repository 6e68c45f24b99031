import { isObject, isPresent, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { checkResponsesModel } from '../openai/model-rules.ts';
import {
  checkFunction,
  checkModelExists,
  checkNumber,
  checkStrict,
  missing,
  requireObject,
  wrongType,
  wrongValue,
} from '../openai/protocol.ts';
import { Rejection } from '../rejection.ts';
import { checkImageTool } from './image-call.ts';

/** Checks everything but the input items. Unknown fields pass. @throws Rejection */
export function validateResponses(given: unknown, model: string): JsonObject {
  const body = requireObject(given);
  if (typeof body['model'] !== 'string' || model === '') throw missing('model');
  checkModelExists(model);
  const { input, stream, instructions } = body;
  const elsewhere = ['prompt', 'previous_response_id', 'conversation'];
  if (!isPresent(input) && !elsewhere.some((key) => isPresent(body[key]))) throw missing('input');
  if (isPresent(input) && typeof input !== 'string' && !Array.isArray(input)) {
    throw wrongType('input', 'one of a string or array of objects', input);
  }
  if (isPresent(instructions) && typeof instructions !== 'string') {
    throw wrongType('instructions', 'a string', instructions);
  }
  if (isPresent(stream) && typeof stream !== 'boolean')
    throw wrongType('stream', 'a boolean', stream);
  checkNumber('temperature', body['temperature'], 'decimal', 0, 2);
  checkNumber('top_p', body['top_p'], 'decimal', 0, 1);
  checkNumber('max_output_tokens', body['max_output_tokens'], 'integer', 16);
  checkTools(body);
  checkFormat(body);
  checkResponsesModel(body, model);
  return body;
}

/** The members that the counter accepts. It refuses all others. */
const countFields = new Set(
  (
    'model instructions input tools tool_choice parallel_tool_calls reasoning text truncation ' +
    'conversation previous_response_id personality'
  ).split(' '),
);

/** Checks a token count. @throws Rejection */
export function validateCount(given: unknown, model: string): JsonObject {
  return onlyWith(countFields, validateResponses(given, model));
}

/** The members that a compaction accepts; the second line has those that only Codex sends. It refuses all others. */
const compactFields = new Set(
  (
    'model instructions input previous_response_id prompt_cache_key prompt_cache_retention prompt_cache_options ' +
    'service_tier tools parallel_tool_calls reasoning text'
  ).split(' '),
);

/** Checks a compaction. @throws Rejection */
export function validateCompaction(given: unknown, model: string): JsonObject {
  return onlyWith(compactFields, validateResponses(given, model));
}

function onlyWith(fields: ReadonlySet<string>, body: JsonObject): JsonObject {
  const param = Object.keys(body).find((name) => !fields.has(name));
  if (param === undefined) return body;
  throw new Rejection(400, `Unknown parameter: '${param}'.`, { param, code: 'unknown_parameter' });
}

function checkTools(body: JsonObject): void {
  const { tools } = body;
  if (isPresent(tools)) {
    if (!Array.isArray(tools)) throw wrongType('tools', 'an array of objects', tools);
    tools.forEach((tool: unknown, index) => {
      const param = `tools[${index}]`;
      if (!isObject(tool)) throw wrongType(param, 'an object', tool);
      if (stringAt(tool, 'type') === '') throw missing(`${param}.type`);
      // Here the name stands beside the type. A tool in chat's form has none there.
      if (tool['type'] === 'function' || tool['type'] === 'custom') checkFunction(param, tool);
      if (tool['type'] === 'image_generation') checkImageTool(tool, param);
    });
  }
  const choice = body['tool_choice'];
  if (typeof choice === 'string' && !['none', 'auto', 'required'].includes(choice)) {
    throw wrongValue('tool_choice', choice, ['none', 'auto', 'required']);
  }
  if (!isObject(choice)) return;
  const type = stringAt(choice, 'type');
  if (type === '') throw missing('tool_choice.type');
  if (type === 'image_generation' && !objectsIn(tools).some((tool) => tool['type'] === type)) {
    throw absentChoice(type);
  }
  if (type !== 'function' && type !== 'custom') return;
  const name = stringAt(choice, 'name');
  if (name === '') throw missing('tool_choice.name');
  if (!objectsIn(tools).some((tool) => tool['name'] === name)) {
    throw absentChoice(type);
  }
}

function absentChoice(type: string): Rejection {
  return new Rejection(400, `Tool choice '${type}' not found in 'tools' parameter.`, {
    param: 'tool_choice',
  });
}

function checkFormat(body: JsonObject): void {
  const { text } = body;
  const format = isObject(text) ? text['format'] : undefined;
  if (!isPresent(format)) return;
  const type = stringAt(format, 'type');
  if (!['text', 'json_object', 'json_schema'].includes(type)) {
    throw wrongValue('text.format.type', type, ['text', 'json_object', 'json_schema']);
  }
  if (type !== 'json_schema') return;
  if (stringAt(format, 'name') === '') throw missing('text.format.name');
  if (!isObject(format) || !isObject(format['schema'])) throw missing('text.format.schema');
  const what = `response_format '${stringAt(format, 'name')}'`;
  checkStrict(format['strict'], format['schema'], what, { param: 'text.format.schema' });
}
