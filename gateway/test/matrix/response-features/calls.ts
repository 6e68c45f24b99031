import { inArea, mark, type Members, textBlock, outputMessage, outputText } from './feature.ts';

interface Call {
  readonly id?: string;
  readonly name?: string;
  /** JSON text of an object. */
  readonly args?: string;
}

const chatCall = ({ id = 'call_1', name = 'get_weather', args = '{}' }: Call) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const outputCall = ({ id = 'call_1', name = 'get_weather', args = '{}' }: Call) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
});
const toolUse = ({ id = 'call_1', name = 'get_weather', args = '{}' }: Call) => ({
  type: 'tool_use',
  id,
  name,
  input: JSON.parse(args) as unknown,
});
const functionCall = ({ id, name = 'get_weather', args = '{}' }: Call, more: Members = {}) => ({
  functionCall: { ...(id !== undefined && { id }), name, args: JSON.parse(args) as unknown },
  ...more,
});

/** The same calls, of every upstream; `text`: what is said before them. */
function ofAll(calls: readonly Call[], text?: string) {
  const said = text === undefined ? [] : [text];
  return {
    chat: {
      message: { content: text ?? null, tool_calls: calls.map(chatCall) },
      choice: { finish_reason: 'tool_calls' },
    },
    responses: {
      output: [...said.map((each) => outputMessage(outputText(each))), ...calls.map(outputCall)],
    },
    messages: {
      content: [...said.map((each) => textBlock(each)), ...calls.map(toolUse)],
      response: { stop_reason: 'tool_use' },
    },
    'generate-content': {
      parts: [...said.map((each) => ({ text: each })), ...calls.map((call) => functionCall(call))],
    },
  };
}

const marked = `{"city":"${mark}"}`;
const broken = `{"city":"${mark}`;
const custom = { name: 'apply_patch', input: mark };

export const calls = inArea('Calls', [
  { name: 'a call', of: ofAll([{ args: marked }]) },
  { name: 'the id of a call', of: ofAll([{ id: `call_${mark}` }]) },
  { name: 'parallel calls', of: ofAll([{}, { id: 'call_2', name: 'get_time', args: marked }]) },
  { name: 'text before a call', of: ofAll([{}], mark) },
  {
    name: 'arguments that are not JSON',
    why: 'unchanged; in an object if the client expects an object',
    of: {
      chat: { message: { content: null, tool_calls: [chatCall({ args: broken })] } },
      responses: { output: [outputCall({ args: broken })] },
    },
  },
  {
    name: 'a call with free text',
    why: 'unchanged if the client has such tools; else in an object',
    of: {
      chat: {
        message: { content: null, tool_calls: [{ id: 'call_1', type: 'custom', custom }] },
      },
      responses: {
        output: [{ type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', ...custom }],
      },
    },
  },
  {
    name: '`function_call`, the old form',
    of: {
      chat: {
        message: { content: null, function_call: { name: 'get_weather', arguments: marked } },
        choice: { finish_reason: 'function_call' },
      },
    },
  },
]);

const envelope = /gw2\.[\w-]{40,}|"thoughtSignature":"(?!c2ln")[\w+/=-]{20,}/;
const travels = 'in an envelope; chat has `reasoning_details`, which few clients return';
const summary = [{ type: 'summary_text', text: mark }];

export const thoughts = inArea('Reasoning', [
  {
    name: 'visible reasoning',
    of: {
      chat: { message: { reasoning_content: mark, content: 'so' } },
      responses: { output: [{ type: 'reasoning', id: 'rs_1', summary }] },
      messages: { content: [{ type: 'thinking', thinking: mark, signature: 'c2ln' }] },
      'generate-content': { parts: [{ text: mark, thought: true }, { text: 'so' }] },
    },
  },
  {
    name: '`reasoning_text`, no summary',
    of: {
      responses: {
        output: [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [],
            content: [{ type: 'reasoning_text', text: mark }],
          },
        ],
      },
    },
  },
  {
    name: 'signed or encrypted reasoning',
    shown: envelope,
    why: travels,
    of: {
      chat: {
        message: {
          content: 'so',
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'c2ln', index: 0 }],
        },
      },
      responses: {
        output: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2ln' }],
      },
      messages: { content: [{ type: 'thinking', thinking: 'hm', signature: 'c2ln' }] },
      'generate-content': {
        parts: [{ text: 'hm', thought: true, thoughtSignature: 'c2ln' }, { text: 'so' }],
      },
    },
  },
  {
    name: '`redacted_thinking`',
    shown: envelope,
    why: travels,
    of: { messages: { content: [{ type: 'redacted_thinking', data: 'c2ln' }, textBlock('so')] } },
  },
  {
    name: '`thoughtSignature` of a call',
    shown: envelope,
    why: travels,
    of: { 'generate-content': { parts: [functionCall({}, { thoughtSignature: 'c2ln' })] } },
  },
  {
    name: '`thoughtSignature` of a text',
    shown: envelope,
    isRemembered: true,
    why: 'remembered by the gateway for an hour; also in an envelope where it fits before the text or another block',
    of: { 'generate-content': { parts: [{ text: 'so', thoughtSignature: 'c2ln' }] } },
  },
]);
