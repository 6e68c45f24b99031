import { expect, test } from 'vitest';
import { openGateway, only, rowOf, shareOwnUpstream } from './support.ts';

/* What OpenAI refuses of its own protocols: schemas of tools that are written for an earlier draft, and members that reasoning models do not take. */

const shared = shareOwnUpstream();

const upstreams: Record<string, string> = {
  own: 'gpt-6',
  'o-series': 'o4-mini',
  tuned: 'openai/ft:gpt-5.2:org',
  older: 'gpt-4.1',
  other: 'up',
};

const open = () =>
  openGateway({
    config: `
channels:
  - { name: openai, provider: openai, base_url: "${shared.upstream.url}", api_key: vendor-secret-123, models: [{ name: own, upstream: gpt-6 }, { name: o-series, upstream: o4-mini }, { name: tuned, upstream: "openai/ft:gpt-5.2:org" }, { name: older, upstream: gpt-4.1 }] }
  - { name: other, provider: openai-compatible, base_url: "${shared.upstream.url}/v1", api_key: vendor-secret-123, models: [{ name: other, upstream: up }] }
models: ${JSON.stringify(Object.keys(upstreams).map((id) => ({ id, type: 'chat', price: { input: 1, output: 2 } })))}
`,
  });

const old = {
  type: 'object',
  properties: { size: { type: 'number', minimum: 0, exclusiveMinimum: true, required: true } },
};
const modern = {
  type: 'object',
  properties: { size: { type: 'number', exclusiveMinimum: 0 } },
  required: ['size'],
};
const named = { type: 'function', name: 'f' };

test.each([
  [
    '/v1/chat/completions',
    { messages: [{ role: 'user', content: 'hi' }] },
    (parameters: object) => [{ type: 'function', function: { name: 'f', parameters } }],
    'p5',
  ],
  ['/v1/responses', { input: 'hi' }, (parameters: object) => [{ ...named, parameters }], 'p6'],
  [
    '/v1/responses',
    { input: 'hi' },
    (parameters: object) => [
      { type: 'namespace', name: 'n', description: '', tools: [{ ...named, parameters }] },
    ],
    'p7',
  ],
])('%s %#: it gets one of the current draft', async (path, request, tools, rewrite) => {
  const gateway = await open();
  const response = await gateway.post(path, { ...request, model: 'own', tools: tools(old) });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-rewrites')).toBe(rewrite);
  expect(only(shared.upstream.asked).body).toHaveProperty('tools', tools(modern));
  const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
  expect(row.rewrites).toEqual([rewrite]);
  shared.upstream.clear();

  const again = await gateway.post(path, { ...request, model: 'own', tools: tools(modern) });
  expect(again.headers.get('x-sluice-rewrites')).toBeNull();
  expect(only(shared.upstream.asked).body).toHaveProperty('tools', tools(modern));
});

test('another upstream gets what the client wrote', async () => {
  const gateway = await open();
  const tools = [{ type: 'function', function: { name: 'f', parameters: old } }];
  const messages = [{ role: 'user', content: 'hi' }];
  const response = await gateway.post('/v1/chat/completions', { model: 'other', messages, tools });
  expect(response.headers.get('x-sluice-rewrites')).toBeNull();
  expect(only(shared.upstream.asked).body).toHaveProperty('tools', tools);
});

const hi = { messages: [{ role: 'user', content: 'hi' }] };

/* What reasoning models refuse in chat although the same can be said, or nothing is asked for. */
const members: readonly [string, object, object, string | null][] = [
  ['own', { max_tokens: 9 }, { max_completion_tokens: 9 }, 'p8'],
  ['o-series', { max_tokens: 9 }, { max_completion_tokens: 9 }, 'p8'],
  ['tuned', { max_tokens: 9 }, { max_completion_tokens: 9 }, 'p8'],
  ['own', { max_completion_tokens: 9 }, { max_completion_tokens: 9 }, null],
  ['own', { presence_penalty: 0, frequency_penalty: 0, top_p: 1 }, {}, 'p9,p10,p11'],
  ['own', { presence_penalty: 0.5, top_p: 0.9 }, { presence_penalty: 0.5, top_p: 0.9 }, null],
  ['o-series', { parallel_tool_calls: false }, {}, 'p13'],
  ['own', { parallel_tool_calls: false }, { parallel_tool_calls: false }, null],
  ['older', { max_tokens: 9, top_p: 1 }, { max_tokens: 9, top_p: 1 }, null],
  ['other', { max_tokens: 9, top_p: 1 }, { max_tokens: 9, top_p: 1 }, null],
];

test('each model gets the members that it knows', async () => {
  const gateway = await open();
  for (const [model, asked, sent, rewrites] of members) {
    shared.upstream.clear();
    const response = await gateway.post('/v1/chat/completions', { model, ...hi, ...asked });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-sluice-rewrites')).toBe(rewrites);
    const { body } = only(shared.upstream.asked);
    expect(body).toEqual({ model: upstreams[model], ...hi, ...sent });
    const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
    expect(row.rewrites).toEqual(rewrites?.split(',') ?? []);
  }
});
