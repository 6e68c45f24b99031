import { arrayAt, isObject, isPresent, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { checkChatModel } from '../openai/model-rules.ts';
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
import { checkMessages } from './validate-messages.ts';

/** Rejects what Chat Completions rejects; unknown fields pass. @throws Rejection */
export function validateChat(given: unknown, model: string): JsonObject {
  const body = requireObject(given);
  if (typeof body['model'] !== 'string' || model === '') {
    throw new Rejection(400, 'you must provide a model parameter');
  }
  checkModelExists(model);
  checkMessages(body, model);
  checkSampling(body);
  checkTools(body);
  checkFormat(body);
  checkChatModel(body, model);
  return body;
}

function checkSampling(body: JsonObject): void {
  checkNumber('temperature', body['temperature'], 'decimal', 0, 2);
  checkNumber('top_p', body['top_p'], 'decimal', 0, 1);
  checkNumber('frequency_penalty', body['frequency_penalty'], 'decimal', -2, 2);
  checkNumber('presence_penalty', body['presence_penalty'], 'decimal', -2, 2);
  checkNumber('n', body['n'], 'integer', 1, 128);
  checkNumber('max_tokens', body['max_tokens'], 'integer', 1);
  checkNumber('max_completion_tokens', body['max_completion_tokens'], 'integer', 1);
  checkNumber('top_logprobs', body['top_logprobs'], 'integer', 0, 20);
  if (isPresent(body['max_tokens']) && isPresent(body['max_completion_tokens'])) {
    throw new Rejection(
      400,
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      { code: 'invalid_parameter_combination' },
    );
  }
  const { stream, stop } = body;
  if (isPresent(stream) && typeof stream !== 'boolean')
    throw wrongType('stream', 'a boolean', stream);
  if (isPresent(body['stream_options']) && stream !== true) {
    throw new Rejection(
      400,
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      { param: 'stream_options' },
    );
  }
  if (Array.isArray(stop) ? stop.length > 4 : isPresent(stop) && typeof stop !== 'string') {
    throw new Rejection(400, "Invalid 'stop': expected a string or at most 4 strings.", {
      param: 'stop',
      code: 'invalid_value',
    });
  }
}

function checkTools(body: JsonObject): void {
  const { tools } = body;
  const choice = body['tool_choice'];
  if (isPresent(tools)) {
    if (!Array.isArray(tools)) throw wrongType('tools', 'an array of objects', tools);
    if (tools.length === 0) {
      throw new Rejection(
        400,
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        { param: 'tools', code: 'empty_array' },
      );
    }
    tools.forEach(checkTool);
  } else if (isPresent(choice) && choice !== 'none') {
    throw new Rejection(
      400,
      "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
      { param: 'tool_choice' },
    );
  }
  checkToolChoice(choice, objectsIn(tools));
}

function checkTool(tool: unknown, index: number): void {
  const param = `tools[${index}]`;
  if (!isObject(tool)) throw wrongType(param, 'an object', tool);
  if (!isPresent(tool['type'])) throw missing(`${param}.type`);
  if (tool['type'] !== 'function' && tool['type'] !== 'custom') {
    throw wrongValue(`${param}.type`, tool['type'], ['function', 'custom']);
  }
  const definition = tool[tool['type']];
  if (!isObject(definition)) throw missing(`${param}.${tool['type']}`);
  checkFunction(`${param}.${tool['type']}`, definition);
}

function checkToolChoice(choice: unknown, tools: readonly JsonObject[]): void {
  if (typeof choice === 'string' && !['none', 'auto', 'required'].includes(choice)) {
    throw wrongValue('tool_choice', choice, ['none', 'auto', 'required']);
  }
  if (!isObject(choice) || choice['type'] === 'allowed_tools') return;
  const kind = stringAt(choice, 'type');
  const name = stringAt(choice[kind], 'name');
  if (name === '') throw missing(`tool_choice.${kind || 'type'}`);
  if (!tools.some((tool) => stringAt(tool[kind], 'name') === name)) {
    throw new Rejection(
      400,
      `Invalid value for 'tool_choice': no function named '${name}' was specified in the 'tools' parameter.`,
      { param: 'tool_choice' },
    );
  }
}

function checkFormat(body: JsonObject): void {
  const format = body['response_format'];
  if (!isPresent(format)) return;
  const type = stringAt(format, 'type');
  if (!['text', 'json_object', 'json_schema'].includes(type)) {
    throw wrongValue('response_format.type', type, ['json_object', 'json_schema', 'text']);
  }
  if (type === 'json_schema') {
    const definition = isObject(format) ? format['json_schema'] : undefined;
    if (!isObject(definition)) throw missing('response_format.json_schema');
    if (stringAt(definition, 'name') === '') throw missing('response_format.json_schema.name');
    const what = `response_format '${stringAt(definition, 'name')}'`;
    checkStrict(definition['strict'], definition['schema'], what, { param: 'response_format' });
  }
  const mentionsJson = () => /json/i.test(JSON.stringify(arrayAt(body, 'messages')));
  if (type === 'json_object' && !mentionsJson()) {
    throw new Rejection(
      400,
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      { param: 'messages' },
    );
  }
}
