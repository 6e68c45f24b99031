import { expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { describeChannels, ordinaryPrice, rowOf, shareGateway } from './support.ts';

const shared = shareGateway({
  config: `
${describeChannels(
  [
    {
      name: 'sim',
      protocols: ['messages'],
      models: ['old -> claude-sonnet-4-5', 'new -> claude-opus-4-8'],
    },
    {
      name: 'with-beta',
      protocols: ['messages'],
      models: ['opened -> claude-opus-4-8'],
      more: ['headers: { Anthropic-Beta: context-management-2025-06-27 }'],
    },
    { name: 'elsewhere', protocols: ['chat'], models: ['chatting -> demo-chat'] },
  ],
  () => `max_output_tokens: 8000, ${ordinaryPrice}`,
)}
`,
});

const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const text = (value: string) => ({ type: 'text', text: value });
const tools = [{ name: 'read', input_schema: { type: 'object' } }];
const call = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });

/** Sent as it is the simulator refuses it; through the gateway it is answered. */
async function send(path: string, body: Record<string, unknown>) {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post(path, body);
  const responseText = await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  return { response, responseText, id, received: gateway.simulator.requests() };
}

async function refusedByUpstream(upstream: string, body: Record<string, unknown>) {
  const response = await fetch(`${shared.gateway.simulator.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      'x-api-key': 'k',
    },
    body: JSON.stringify({ ...body, model: upstream }),
  });
  await response.text();
  return response.status;
}

const broken: readonly (readonly [string, string, Record<string, unknown>, string])[] = [
  [
    'a lost result and a blank text',
    'old',
    { messages: [user(text('go'), text(' ')), assistant(call('a')), user(text('well?'))], tools },
    'b13,b17',
  ],
  [
    'a result before whose call the history was cut',
    'old',
    { messages: [user(result('a'), text('go on'))], tools },
    'b18',
  ],
  [
    'a budget and a begun response',
    'new',
    {
      thinking: { type: 'enabled', budget_tokens: 1024 },
      messages: [user(text('go')), assistant(text('So'))],
    },
    'b4,b25',
  ],
  [
    'fields of a beta without its header',
    'new',
    {
      context_management: { edits: [] },
      output_config: { effort: 'low', task_budget: { type: 'tokens', total: 50_000 } },
      messages: [user(text('go'))],
    },
    'b39',
  ],
];

test.each([
  ['the client', 'new', { 'anthropic-beta': 'context-management-2025-06-27' }],
  ['the channel', 'opened', {}],
])('a field is dropped together with the beta that %s names', async (_, model, headers) => {
  const context = { edits: [{ type: 'clear_tool_uses_20250919' }] };
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await gateway.post(
    '/v1/messages',
    { model, max_tokens: 100, messages: [user(text('go'))], context_management: context },
    { authorization: `Bearer ${testKey}`, ...headers },
  );
  expect([response.status, response.headers.get('x-sluice-rewrites')]).toEqual([200, null]);
  await response.text();
  const [received] = gateway.simulator.requests();
  expect(received?.json).toMatchObject({ context_management: context });
  expect(new Map(received?.headers).get('anthropic-beta')).toBe('context-management-2025-06-27');
});

test.each(broken)('%s is repaired and reported', async (_, model, members, rules) => {
  const body = { model, max_tokens: 2000, ...members };
  const upstream = model === 'old' ? 'claude-sonnet-4-5' : 'claude-opus-4-8';
  expect(await refusedByUpstream(upstream, body)).toBe(400);

  for (const stream of [false, true]) {
    const { response, id } = await send('/v1/messages', { ...body, stream });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sluice-rewrites')).toBe(rules);
    expect((await rowOf(shared.gateway, id)).rewrites).toEqual(rules.split(','));
  }
});

test('a converted request is repaired for an upstream of another protocol, and names the repairs', async () => {
  const image = { type: 'base64', media_type: 'image/jpg', data: '/9j/4AAQ\n' };
  const { response, id, received } = await send('/v1/messages', {
    model: 'chatting',
    max_tokens: 100,
    messages: [
      user(text('cut \ud83d'), { type: 'image', source: image }),
      assistant(text('a picture')),
      user(),
      assistant(text('and?')),
      user(text('go on')),
    ],
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-rewrites')).toBe('b12,b36,b41');
  expect((await rowOf(shared.gateway, id)).rewrites).toEqual(['b12', 'b36', 'b41']);
  expect(received[0]?.json).toMatchObject({
    messages: [
      {
        content: [
          { type: 'text', text: 'cut \ufffd' },
          { image_url: { url: 'data:image/jpeg;base64,/9j/4AAQ' } },
        ],
      },
      { content: 'a picture' },
      { content: '(no content)' },
      { content: 'and?' },
      { content: 'go on' },
    ],
  });
});

test('tokens of a broken request are counted', async () => {
  const { max_tokens: _, ...body } = { model: 'old', max_tokens: 1, ...broken[0]![2] };
  const { response, responseText } = await send('/v1/messages/count_tokens', body);
  expect(response.status).toBe(200);
  expect(JSON.parse(responseText)).toEqual({ input_tokens: expect.any(Number) });
});

test('a request that cannot be repaired is refused before any upstream is called, and is free', async () => {
  const body = {
    model: 'old',
    max_tokens: 100,
    messages: [user(text('go'))],
    tools,
    tool_choice: { type: 'tool', name: 'write' },
  };
  const { response, responseText, id, received } = await send('/v1/messages', body);
  expect(response.status).toBe(400);
  expect(JSON.parse(responseText)).toMatchObject({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: 'tool_choice.name names write, which is not among the tools',
    },
  });
  expect(received).toEqual([]);
  const row = await rowOf(shared.gateway, id);
  expect([row.cost ?? 0n, row.attempts]).toEqual([0n, []]);
});

test('a request without faults has no rewrites', async () => {
  const body = {
    model: 'old',
    max_tokens: 100,
    messages: [user(text('go')), assistant(text('x'), call('a')), user(result('a'))],
    tools,
  };
  const { response, received } = await send('/v1/messages', body);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-rewrites')).toBeNull();
  expect(received.map((request) => request.body)).toEqual([
    JSON.stringify({ ...body, model: 'claude-sonnet-4-5' }),
  ]);
});
