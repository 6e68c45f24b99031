import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { ask } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());

const user = { role: 'user', content: 'hello' };
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' };
const tool = { name: 'f', input_schema: { type: 'object' } };
const mark = { cache_control: { type: 'ephemeral' } };
const says = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const messages = (...list: unknown[]) => ({ messages: list });
const thinking = { type: 'enabled', budget_tokens: 1024 };
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' };

describe('Messages rejects', () => {
  test.each<[string, Record<string, unknown>, string | RegExp]>([
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
    [
      'too many tokens',
      { max_tokens: 999_999 },
      /which is the maximum allowed number of output tokens/,
    ],
    ['no model', { model: undefined }, 'model: Field required'],
    ['no messages', { messages: [] }, 'messages: at least one message is required'],
    ['an unknown field', { seed: 1 }, 'seed: Extra inputs are not permitted'],
    [
      'a beta field without its header',
      { context_management: {} },
      'context_management: Extra inputs are not permitted',
    ],
    [
      'an unknown member of a block',
      messages(says({ type: 'text', text: 'a', id: 1 })),
      'messages.0.content.0.text.id: Extra inputs are not permitted',
    ],
    [
      'an unknown role',
      messages({ role: 'tool', content: 'x' }),
      "messages.0.role: Input should be 'user' or 'assistant'",
    ],
    [
      'a system turn in the older version',
      messages(user, { role: 'system', content: 'x' }),
      "messages.1: role 'system' is not supported on this model",
    ],
    [
      'an assistant first',
      messages(assistant({ type: 'text', text: 'a' }), user),
      'messages: first message must use the "user" role',
    ],
    [
      'an empty message',
      messages(user, { role: 'assistant', content: '' }, user),
      /^messages.1: all messages must have non-empty content/,
    ],
    [
      'an empty block',
      messages(says({ type: 'text', text: '' })),
      'messages: text content blocks must be non-empty',
    ],
    [
      'a blank block',
      messages(says({ type: 'text', text: ' \n' })),
      'messages: text content blocks must contain non-whitespace text',
    ],
    [
      'an empty system block',
      { system: [{ type: 'text', text: '' }] },
      'system: text content blocks must be non-empty',
    ],
    [
      'a mark on empty text',
      messages(says({ type: 'text', text: '', ...mark })),
      /cache_control cannot be set for empty text blocks/,
    ],
    [
      'a mark on thinking',
      messages(
        user,
        assistant({ type: 'thinking', thinking: 'a', signature: 'b', ...mark }, use),
        says(result),
      ),
      /thinking.cache_control: Extra inputs/,
    ],
    [
      'five marks',
      messages(says(...Array.from({ length: 5 }, () => ({ type: 'text', text: 'a', ...mark })))),
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
    [
      'a long mark after a short one',
      {
        system: [{ type: 'text', text: 'a', ...mark }],
        ...messages(
          says({ type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }),
        ),
      },
      /must not come after a ttl='5m'/,
    ],
    [
      'a call without result',
      messages(user, assistant(use), user),
      /^messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1/,
    ],
    [
      'an unanswered last call',
      messages(user, assistant(use)),
      /without `tool_result` blocks immediately after/,
    ],
    [
      'a result behind text',
      messages(user, assistant(use), says({ type: 'text', text: 'a' }, result)),
      /without `tool_result` blocks immediately after/,
    ],
    [
      'a result without call',
      messages(says(result)),
      /^messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_1/,
    ],
    [
      'two results',
      messages(user, assistant(use), says(result, result)),
      /each tool_use must have a single result/,
    ],
    [
      'one id twice',
      messages(user, assistant(use, use), says(result)),
      /`tool_use` ids must be unique/,
    ],
    [
      'a bad id',
      messages(user, assistant({ ...use, id: 'a.b' }), says({ ...result, tool_use_id: 'a.b' })),
      /should match pattern '\^\[a-zA-Z0-9_-\]\+\$'/,
    ],
    [
      'input as text',
      messages(user, assistant({ ...use, input: '{}' }), says(result)),
      /tool_use.input: Input should be a valid dictionary/,
    ],
    [
      'a result that is a number',
      messages(user, assistant(use), says({ ...result, content: 5 })),
      /tool_result.content: Input should be a valid list/,
    ],
    [
      'a prefill with a space',
      messages(user, { role: 'assistant', content: 'So ' }),
      /cannot end with trailing whitespace/,
    ],
    [
      'a prefill under thinking',
      { thinking, max_tokens: 2000, ...messages(user, { role: 'assistant', content: 'So' }) },
      /does not support assistant message prefill/,
    ],
    [
      'a call in the place of thinking',
      {
        thinking,
        max_tokens: 2000,
        tools: [tool],
        ...messages(user, assistant(use), says(result)),
      },
      /^messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
    ],
    [
      'a foreign signature',
      messages(
        user,
        assistant({ type: 'thinking', thinking: 'a', signature: 'Zm9yZWlnbg==' }, use),
        says(result),
      ),
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'thinking without signature',
      messages(user, assistant({ type: 'thinking', thinking: 'a' }, use), says(result)),
      /thinking.signature: Field required/,
    ],
    [
      'a small budget',
      { thinking: { type: 'enabled', budget_tokens: 10 } },
      /greater than or equal to 1024/,
    ],
    [
      'a budget over the limit',
      { thinking, max_tokens: 1024 },
      /`max_tokens` must be greater than `thinking.budget_tokens`/,
    ],
    [
      'temperature under thinking',
      { thinking, max_tokens: 2000, temperature: 0.5 },
      /may only be set to 1 when thinking is enabled/,
    ],
    [
      'a forced tool under thinking',
      { thinking, max_tokens: 2000, tools: [tool], tool_choice: { type: 'any' } },
      /Thinking may not be enabled when tool_choice forces tool use/,
    ],
    ['temperature and top_p', { temperature: 0.5, top_p: 0.5 }, /cannot both be specified/],
    ['an unknown effort', { output_config: { effort: 'huge' } }, /output_config.effort/],
    [
      'a bad tool name',
      { tools: [{ ...tool, name: 'a b' }] },
      /tools.0.custom.name: String should match pattern/,
    ],
    ['two tools of one name', { tools: [tool, tool] }, /Tool names must be unique/],
    ['no schema', { tools: [{ name: 'f' }] }, 'tools.0.custom.input_schema: Field required'],
    [
      'a schema without type',
      { tools: [{ name: 'f', input_schema: {} }] },
      'tools.0.custom.input_schema.type: Field required',
    ],
    [
      'a union on top',
      { tools: [{ name: 'f', input_schema: { type: 'object', anyOf: [{}] } }] },
      /does not support oneOf, allOf, or anyOf at the top level/,
    ],
    [
      'a schema of an earlier draft',
      {
        tools: [
          {
            name: 'f',
            input_schema: {
              type: 'object',
              properties: { a: { type: 'array', items: [{ type: 'string' }] } },
            },
          },
        ],
      },
      /It must match JSON Schema draft 2020-12/,
    ],
    [
      'a choice without tools',
      { tool_choice: { type: 'auto' } },
      /may only be specified while providing tools/,
    ],
    [
      'a choice of no tool',
      { tools: [tool], tool_choice: { type: 'tool', name: 'g' } },
      "Tool 'g' not found in provided tools",
    ],
    [
      'only deferred tools',
      { tools: [{ ...tool, defer_loading: true }] },
      /At least one tool must have defer_loading=false/,
    ],
    [
      'a wrong media type',
      messages(says({ type: 'image', source: { ...png, media_type: 'image/jpeg' } })),
      /appears to be a image\/png image/,
    ],
    [
      'a data URL as data',
      messages(says({ type: 'image', source: { ...png, data: 'data:image/png;base64,AA' } })),
      /valid base64/,
    ],
    [
      'metadata beside user_id',
      { metadata: { team: 'a' } },
      'metadata.team: Extra inputs are not permitted',
    ],
    ['an email as user', { metadata: { user_id: 'a@b.de' } }, /email address/],
    [
      'half a surrogate pair',
      messages({ role: 'user', content: 'a\ud800' }),
      /no low surrogate in string/,
    ],
    ['a blank stop sequence', { stop_sequences: [' '] }, /must contain non-whitespace/],
    [
      'text behind a call',
      messages(user, assistant(use, { type: 'text', text: 'a' }), says(result)),
      /without `tool_result` blocks immediately after: toolu_1/,
    ],
    [
      'four marks and one of the request',
      {
        ...mark,
        ...messages(
          says(...Array.from({ length: 4 }, () => ({ type: 'text', text: 'a', ...mark }))),
        ),
      },
      /Found 5/,
    ],
    [
      'citations in a response of a given form',
      {
        output_config: { format: { type: 'json_schema', schema: {} } },
        ...messages(
          says({
            type: 'document',
            source: { type: 'text', media_type: 'text/plain', data: 'a' },
            citations: { enabled: true },
          }),
        ),
      },
      /Citations cannot be enabled/,
    ],
    [
      'a wide image',
      messages(
        says({
          type: 'image',
          source: { ...png, data: 'iVBORw0KGgoAAAANSUhEUgAAH0EAAAABCAYAAAA=' },
        }),
      ),
      /exceed max allowed size: 8000 pixels/,
    ],
    [
      'a budget on a newer model',
      { model: 'claude-opus-4-7', thinking, max_tokens: 2000 },
      /Use "thinking.type.adaptive"/,
    ],
    [
      'adaptive thinking on an older model',
      { model: 'claude-sonnet-4-5', thinking: { type: 'adaptive' } },
      /adaptive thinking is not supported/,
    ],
    [
      'no thinking on a model that always thinks',
      { model: 'claude-opus-5-5', thinking: { type: 'disabled' } },
      /disabled thinking is not supported/,
    ],
    [
      'an effort the model does not have',
      { model: 'claude-opus-4-6', output_config: { effort: 'xhigh' } },
      "This model does not support effort level 'xhigh'. Supported levels: low, medium, high, max.",
    ],
    [
      'any effort on an older model',
      { model: 'claude-sonnet-4-5', output_config: { effort: 'low' } },
      /does not support the effort parameter/,
    ],
    [
      'a prefill on a newer model',
      { model: 'claude-sonnet-4-6', ...messages(user, { role: 'assistant', content: 'So' }) },
      /does not support assistant message prefill/,
    ],
    ['top_k on a newer model', { model: 'claude-opus-4-8', top_k: 4 }, /top_k. is deprecated/],
    [
      'a system turn on an older model',
      { model: 'claude-opus-4-7', ...messages(user, { role: 'system', content: 'x' }) },
      /role 'system' is not supported on this model/,
    ],
    ['stream as text', { stream: 'true' }, 'stream: Input should be a valid boolean'],
  ])('%s', async (_, changes, message) => {
    const { status, json } = await ask(simulator, 'messages', changes);
    expect(json.error?.message).toMatch(message);
    expect(status).toBe(400);
    expect(json).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
  });
});

describe('the latest version', () => {
  const latest = { 'anthropic-version': '2026-10-21' };

  test.each(['temperature', 'top_p', 'top_k'])('has no %s any more', async (field) => {
    const { json } = await ask(simulator, 'messages', { [field]: 1 }, latest);
    expect(json.error.message).toBe(`${field}: Extra inputs are not permitted`);
  });

  test('accepts a system turn in its place only', async () => {
    const system = { role: 'system', content: 'x' };
    const right = await ask(simulator, 'messages', messages(user, system), latest);
    expect(right.status).toBe(200);
    const wrong = await ask(simulator, 'messages', messages(user, system, user), latest);
    expect(wrong.json.error.message).toMatch(/must follow a user message/);
  });

  test('refuses a document from the assistant', async () => {
    const document = {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'a' },
    };
    const { status } = await ask(
      simulator,
      'messages',
      messages(user, assistant(document), user),
      latest,
    );
    expect(status).toBe(400);
  });
});

test('an unknown version and a missing one are refused', async () => {
  const other = await ask(simulator, 'messages', {}, { 'anthropic-version': '2020-01-01' });
  expect(other.status).toBe(400);
});

test('a beta header or the prefix x_ lets unknown fields pass', async () => {
  const beta = { 'anthropic-beta': 'anything' };
  expect((await ask(simulator, 'messages', { brand_new: 1 }, beta)).status).toBe(200);
  expect((await ask(simulator, 'messages', { x_brand_new: 1 })).status).toBe(200);
});

test('consecutive messages of one role are one turn', async () => {
  const other = { ...use, id: 'toolu_2' };
  const { status } = await ask(
    simulator,
    'messages',
    messages(
      user,
      user,
      assistant(use),
      assistant(other),
      says(result),
      says({ ...result, tool_use_id: 'toolu_2' }),
    ),
  );
  expect(status).toBe(200);
});

test('a newer model accepts a system turn', async () => {
  const changes = { model: 'claude-opus-4-8', ...messages(user, { role: 'system', content: 'x' }) };
  expect((await ask(simulator, 'messages', changes)).status).toBe(200);
});

test('thoughts at the beginning of a turn of several messages are its beginning', async () => {
  const first = await ask(simulator, 'messages', { thinking, max_tokens: 2000 });
  const [thought] = (first.json as unknown as { content: unknown[] }).content;
  const { status } = await ask(simulator, 'messages', {
    thinking,
    max_tokens: 2000,
    tools: [tool],
    ...messages(user, assistant(thought), assistant(use), says(result)),
  });
  expect(status).toBe(200);
});
