import { arrayAt, isObject, isPresent, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { missing, wrongType, wrongValue } from '../openai/protocol.ts';
import { checkTemplate } from '../openai/templates.ts';
import { Rejection } from '../rejection.ts';

const roles = ['system', 'assistant', 'user', 'function', 'tool', 'developer'];
const partTypes = ['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file'];

/** Checks the shape of each message, then the order of calls and results. @throws Rejection */
export function checkMessages(body: JsonObject, model: string): void {
  const { messages } = body;
  if (!isPresent(messages)) throw missing('messages');
  if (!Array.isArray(messages)) throw wrongType('messages', 'an array of objects', messages);
  if (messages.length === 0) {
    throw new Rejection(
      400,
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      { param: 'messages', code: 'empty_array' },
    );
  }
  messages.forEach(checkMessage);
  checkPairing(objectsIn(messages));
  checkEcho(body, model);
  checkTemplate(
    model,
    objectsIn(messages).map(({ role }) => role),
  );
}

function checkMessage(message: unknown, index: number): void {
  const param = `messages[${index}]`;
  if (!isObject(message)) throw wrongType(param, 'an object', message);
  const { role, content } = message;
  if (!isPresent(role)) throw missing(`${param}.role`);
  if (typeof role !== 'string' || !roles.includes(role)) {
    throw wrongValue(`${param}.role`, role, roles);
  }
  if (role === 'tool' && stringAt(message, 'tool_call_id') === '') {
    throw missing(`${param}.tool_call_id`);
  }
  const mayBeEmpty =
    role === 'function' ||
    (role === 'assistant' &&
      ['tool_calls', 'function_call', 'refusal', 'audio'].some((key) => isPresent(message[key])));
  if (!isPresent(content) && !mayBeEmpty) {
    throw new Rejection(400, "Invalid value for 'content': expected a string, got null.", {
      param: `messages.[${index}].content`,
    });
  }
  checkContent(content, role, param);
  if (isPresent(message['tool_calls'])) checkCalls(message['tool_calls'], param);
}

function checkContent(content: unknown, role: string, param: string): void {
  if (!isPresent(content) || typeof content === 'string') return;
  if (!Array.isArray(content)) {
    throw wrongType(`${param}.content`, 'one of a string or array of objects', content);
  }
  const allowed = allowedParts(role);
  content.forEach((part: unknown, index) => {
    const at = `${param}.content[${index}]`;
    if (!isObject(part)) throw wrongType(at, 'an object', part);
    const type = stringAt(part, 'type');
    if (type === '') throw missing(`${at}.type`);
    if (!allowed.includes(type)) throw wrongValue(at, type, allowed);
    if (type === 'text' && typeof part['text'] !== 'string') throw missing(`${at}.text`);
    if (type === 'image_url') checkImage(part['image_url'], at);
  });
}

function allowedParts(role: string): readonly string[] {
  if (role === 'user') return partTypes;
  return role === 'assistant' ? ['text', 'refusal'] : ['text'];
}

function checkImage(image: unknown, param: string): void {
  const url = stringAt(image, 'url');
  if (!isObject(image)) throw wrongType(`${param}.image_url`, 'an object', image);
  if (url === '') throw missing(`${param}.image_url.url`);
  if (/^https?:\/\//.test(url)) return;
  if (!/^data:image\/[\w.+-]+;base64,[A-Za-z0-9+/_-]+=*$/.test(url)) {
    throw new Rejection(
      400,
      "Invalid image data. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU=').",
      { param: `${param}.image_url.url`, code: 'invalid_image_url' },
    );
  }
}

function checkCalls(calls: unknown, param: string): void {
  if (!Array.isArray(calls)) throw wrongType(`${param}.tool_calls`, 'an array of objects', calls);
  if (calls.length === 0) {
    throw new Rejection(
      400,
      `Invalid '${param}.tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
      { param: `${param}.tool_calls`, code: 'empty_array' },
    );
  }
  calls.forEach((call: unknown, index) => {
    const at = `${param}.tool_calls[${index}]`;
    if (stringAt(call, 'id') === '') throw missing(`${at}.id`);
    const type = stringAt(call, 'type');
    if (type !== 'function' && type !== 'custom') throw missing(`${at}.type`);
    const definition = isObject(call) ? call[type] : undefined;
    const text = type === 'function' ? 'arguments' : 'input';
    if (stringAt(definition, 'name') === '') throw missing(`${at}.${type}.name`);
    if (!isObject(definition) || typeof definition[text] !== 'string') {
      throw missing(`${at}.${type}.${text}`);
    }
  });
}

/** Tool messages must answer every call before a message of another role. */
function checkPairing(messages: readonly JsonObject[]): void {
  let open = new Set<string>();
  messages.forEach((message, index) => {
    if (message['role'] === 'tool') {
      if (!open.delete(stringAt(message, 'tool_call_id'))) {
        throw new Rejection(
          400,
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          { param: `messages.[${index}].role` },
        );
      }
      return;
    }
    if (open.size > 0) throw unanswered(open, index);
    open = new Set(arrayAt(message, 'tool_calls').map((call) => stringAt(call, 'id')));
  });
  if (open.size > 0) throw unanswered(open, messages.length);
}

function unanswered(ids: ReadonlySet<string>, index: number): Rejection {
  return new Rejection(
    400,
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...ids].join(', ')}`,
    { param: `messages.[${index}].role` },
  );
}

interface EchoRule {
  readonly names: RegExp;
  /** Which messages of the model need it, beside those with calls. */
  readonly all: boolean;
  refusal(index: number): string;
}

const mustBePassedBack =
  'The `reasoning_content` in the thinking mode must be passed back to the API.';

/** Models that insist on their reasoning in the history, in their vendors' words. */
const echoRules: readonly EchoRule[] = [
  {
    names: /require-echo/,
    all: false,
    refusal: (index) =>
      `Missing \`reasoning_content\` field in the assistant message at message index ${index}.`,
  },
  { names: /deepseek-(reasoner|chat|v[4-9])|mimo-v/, all: true, refusal: () => mustBePassedBack },
  {
    names: /kimi-k(2\.|2-thinking|3)/,
    all: false,
    refusal: (index) =>
      `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
  },
];

/**
 * Compatible upstreams disagree on reasoning in the history. Some require it as soon as there are tools, and take an empty
 * text for none; a model with `reject-echo` in its name refuses it.
 */
function checkEcho(body: JsonObject, model: string): void {
  const messages = objectsIn(body['messages']);
  const rule = echoRules.find(({ names }) => names.test(model));
  const thinks = stringAt(body['thinking'], 'type') !== 'disabled';
  const hasTools =
    isPresent(body['tools']) || messages.some((each) => isPresent(each['tool_calls']));
  messages.forEach((message, index) => {
    const isWanted =
      message['role'] === 'assistant' && (rule?.all || isPresent(message['tool_calls']));
    if (rule && thinks && hasTools && isWanted && stringAt(message, 'reasoning_content') === '') {
      throw new Rejection(400, rule.refusal(index));
    }
    if (model.includes('reject-echo') && message['reasoning_content'] !== undefined) {
      throw new Rejection(
        400,
        `The \`reasoning_content\` field is not accepted in input messages (message index ${index}).`,
      );
    }
  });
}
