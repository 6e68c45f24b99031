import { expect, test } from 'vitest';
import { openGateway, only, rowOf, shareOwnUpstream } from './support.ts';

/* OpenAI returns 400 for a tool whose schema is written for an earlier draft, also to clients of its own protocols. */

const shared = shareOwnUpstream();

const open = () =>
  openGateway({
    config: `
channels:
  - { name: openai, provider: openai, base_url: "${shared.upstream.url}", api_key: vendor-secret-123, models: [{ name: own, upstream: gpt-6 }] }
  - { name: other, provider: openai-compatible, base_url: "${shared.upstream.url}/v1", api_key: vendor-secret-123, models: [{ name: other, upstream: up }] }
models:
  - { id: own, type: chat, price: { input: 1, output: 2 } }
  - { id: other, type: chat, price: { input: 1, output: 2 } }
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
