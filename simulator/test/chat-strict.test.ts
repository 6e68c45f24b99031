import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { ask } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const user = { role: 'user', content: 'hello' };
const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const called = { role: 'assistant', content: null, tool_calls: [call] };
const result = { role: 'tool', tool_call_id: 'call_1', content: 'ok' };

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];

describe('Chat Completions rejects', () => {
  test.each<[string, Record<string, unknown>, string | RegExp]>([
    ['no model', { model: undefined }, 'you must provide a model parameter'],
    ['no messages', { messages: undefined }, "Missing required parameter: 'messages'."],
    ['messages that are not a list', { messages: 'hi' }, /Invalid type for 'messages'/],
    ['an unknown role', { messages: [{ role: 'human', content: 'x' }] }, /Invalid value: 'human'/],
    [
      'a user message without content',
      { messages: [{ role: 'user' }] },
      /expected a string, got null/,
    ],
    [
      'an image for the assistant',
      { messages: [{ role: 'assistant', content: [{ type: 'image_url' }] }] },
      /Invalid value: 'image_url'/,
    ],
    [
      'a call without result',
      { messages: [user, called] },
      /did not have response messages: call_1/,
    ],
    [
      'a call answered too late',
      { messages: [user, called, user, result] },
      /must be followed by tool messages/,
    ],
    [
      'a result without call',
      { messages: [user, result] },
      /must be a response to a preceeding message/,
    ],
    [
      'arguments that are not a string',
      {
        messages: [
          user,
          { ...called, tool_calls: [{ ...call, function: { name: 'f', arguments: {} } }] },
          result,
        ],
      },
      /messages\[1\]\.tool_calls\[0\]\.function\.arguments/,
    ],
    ['no tools in the list', { tools: [] }, /empty array/],
    [
      'a tool without function',
      { tools: [{ type: 'function', name: 'f' }] },
      /tools\[0\]\.function'/,
    ],
    [
      'a bad tool name',
      { tools: [{ type: 'function', function: { name: 'a b' } }] },
      /does not match pattern/,
    ],
    [
      'parameters of another type',
      { tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'string' } } }] },
      /Invalid schema for function 'f'/,
    ],
    [
      'a tool choice without tools',
      { tool_choice: 'auto' },
      /only allowed when 'tools' are specified/,
    ],
    [
      'too hot',
      { temperature: 3 },
      "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 3 instead.",
    ],
    ['no tokens', { max_tokens: 0 }, /integer below minimum value/],
    ['both limits', { max_tokens: 5, max_completion_tokens: 5 }, /at the same time/],
    [
      'stream options without stream',
      { stream_options: { include_usage: true } },
      /only allowed when 'stream' is enabled/,
    ],
    ['five stop sequences', { stop: ['a', 'b', 'c', 'd', 'e'] }, /at most 4/],
    [
      'json mode without the word',
      { response_format: { type: 'json_object' } },
      /must contain the word 'json'/,
    ],
    [
      'reasoning dropped where it must come back',
      { model: 'require-echo', messages: [user, called, result] },
      /Missing `reasoning_content` field .* index 1/,
    ],
    [
      'an empty one as well',
      { model: 'deepseek-v4-pro', messages: [user, { ...called, reasoning_content: '' }, result] },
      'The `reasoning_content` in the thinking mode must be passed back to the API.',
    ],
    [
      'a text of the model without it, beside tools',
      {
        model: 'mimo-v2.5-pro',
        tools,
        messages: [user, { role: 'assistant', content: 'a' }, user],
      },
      /must be passed back/,
    ],
    [
      'a call without it',
      { model: 'kimi-k2.5', messages: [user, called, result] },
      'thinking is enabled but reasoning_content is missing in assistant tool call message at index 1',
    ],
    [
      'reasoning echoed where it must not',
      {
        model: 'reject-echo',
        messages: [user, { role: 'assistant', content: 'a', reasoning_content: 'b' }, user],
      },
      /not accepted/,
    ],
    [
      'instructions in the middle where the template does',
      { model: 'Qwen/Qwen3.5-27B', messages: [user, { role: 'system', content: 'a' }, user] },
      'System message must be at the beginning.',
    ],
    [
      'the role `developer` where the template does',
      { model: 'qwen3.8:27b', messages: [{ role: 'developer', content: 'a' }, user] },
      'Unexpected message role.',
    ],
    [
      'an effort beside function tools from GPT-5.4 on',
      { model: 'gpt-5.4', tools, reasoning_effort: 'low' },
      "Function tools with reasoning_effort are not supported for gpt-5.4 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    ],
    [
      'function tools without the effort `none` from GPT-5.6 on',
      { model: 'gpt-5.6-luna', tools },
      /set reasoning_effort to 'none'/,
    ],
    [
      'an effort that the model does not know',
      { model: 'gpt-5.1', reasoning_effort: 'minimal' },
      /does not support 'minimal' with this model. Supported values are: 'none', 'low', 'medium', 'high'\.$/,
    ],
    [
      'an effort of a model that does not reason',
      { model: 'gpt-4.1', reasoning_effort: 'low' },
      /'reasoning_effort' is not supported with this model/,
    ],
  ])('%s', async (_, changes, message) => {
    const { status, json } = await ask(simulator, 'chat', changes);
    expect(json.error.message).toMatch(message);
    expect(status).toBe(400);
    expect(Object.keys(json.error)).toEqual(['message', 'type', 'param', 'code']);
    expect(json.error.type).toBe('invalid_request_error');
  });
});

test.each([
  { model: 'gpt-5.4', tools },
  { model: 'gpt-5.6-luna', tools, reasoning_effort: 'none' },
  { model: 'gpt-5.2', tools, reasoning_effort: 'xhigh' },
  { model: 'demo-chat', tools, reasoning_effort: 'xhigh' },
  { model: 'kimi-k2.5', tools, messages: [user, { role: 'assistant', content: 'a' }, user] },
  { model: 'deepseek-v4', tools, messages: [user, { ...called, reasoning_content: ' ' }, result] },
])('a model takes function tools: %o', async (changes) => {
  expect((await ask(simulator, 'chat', changes)).status).toBe(200);
});

test('a model of another endpoint does not exist here', async () => {
  const { status, json } = await ask(simulator, 'chat', { model: 'gpt-5.2-codex' });
  expect(status).toBe(404);
  expect(json.error.message).toContain('only supported in v1/responses');
});

test('unknown fields pass', async () => {
  const { status } = await ask(simulator, 'chat', { brand_new: { a: 1 } });
  expect(status).toBe(200);
});
