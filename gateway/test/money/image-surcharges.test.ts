import { createImage } from 'simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { rowOf } from '../behaviour/support.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';

/* Responses with pictures are charged on the terms that they report, as texts are. */

const base64 = createImage({ type: 'png', width: 1024, height: 1024 }).toString('base64');

let upstream: OwnUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startOwnUpstream();
  const tokens = 'input: 2, output: 12, output_image: 120';
  const more = 'multipliers: { service_tier.priority: 2 }, fees: { web_search: 0.014 }';
  gateway = await startTestGateway({
    config: `
channels:
  - { name: gemini, provider: gemini, base_url: "${upstream.url}", api_key: k, models: [terms, bare] }
  - { name: images, provider: openai-compatible, base_url: "${upstream.url}", protocols: [images], models: [sizes] }
models:
  - { id: terms, type: image, price: { ${tokens}, ${more} } }
  - { id: bare, type: image, price: { ${tokens} } }
  - { id: sizes, type: image, price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }], fees: { web_search: 0.014 } } }
`,
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const contents = [{ role: 'user', parts: [{ text: 'Today’s weather' }] }];
const messages = [{ role: 'user', content: 'Today’s weather' }];
const usageMetadata = {
  promptTokenCount: 326,
  candidatesTokenCount: 2340,
  thoughtsTokenCount: 337,
  totalTokenCount: 3003,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 2000 }],
};
const searched = { groundingMetadata: { webSearchQueries: ['weather', 'clouds'] } };
const drawn = { content: { parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] } };
const inContents = (usage: object, candidate: object = {}) => ({
  candidates: [{ ...drawn, ...candidate }],
  usageMetadata: { ...usageMetadata, ...usage },
});

async function send(path: string, body: object, answer: object) {
  upstream.clear();
  upstream.answer = (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer));
  const response = await gateway.post(path, body);
  await response.arrayBuffer();
  const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
  return { status: response.status, row };
}

const own = (model: string) => `/v1beta/models/${model}:generateContent`;
const priority = { serviceTier: 'PRIORITY' };

test.each([
  ['nothing more', own('terms'), { contents }, inContents({}), '0.248776'],
  ['a dearer tier', own('terms'), { contents }, inContents(priority), '0.497552'],
  ['two searches', own('terms'), { contents }, inContents({}, searched), '0.276776'],
  ['both', own('terms'), { contents }, inContents(priority, searched), '0.525552'],
  [
    'both, in a chat',
    '/v1/chat/completions',
    { model: 'terms', messages },
    inContents(priority, searched),
    '0.525552',
  ],
  ['a search without a price', own('bare'), { contents }, inContents({}, searched), '0.248776'],
  [
    'two searches beside tiers',
    '/v1/images/generations',
    { model: 'sizes', prompt: 'a' },
    {
      data: [{ b64_json: base64, size: '1024x1024' }],
      usage: { input_tokens: 1, output_tokens: 2, server_tool_use: { web_search_requests: 2 } },
    },
    '0.068',
  ],
])('%s', async (_, path, body, answer, cost) => {
  const { status, row } = await send(path, body, answer);
  expect([status, row?.cost]).toEqual([200, cost]);
});

test('both, in a stream', async () => {
  const events = [
    { candidates: [{ ...drawn, ...searched }] },
    { candidates: [{ finishReason: 'STOP' }], usageMetadata: { ...usageMetadata, ...priority } },
  ];
  upstream.answer = (_, response) =>
    void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  const path = '/v1beta/models/terms:streamGenerateContent?alt=sse';
  const response = await gateway.post(path, { contents });
  await response.arrayBuffer();
  const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
  expect([response.status, row?.cost]).toEqual([200, '0.525552']);
});

test('names them in the receipt', async () => {
  const priced = await send(own('terms'), { contents }, inContents(priority, searched));
  expect(priced.row?.receipt?.map(({ part }) => part)).toEqual([
    'input@service_tier.priority',
    'output@service_tier.priority',
    'output_image@service_tier.priority',
    'fees.web_search',
  ]);
  const unpriced = await send(own('bare'), { contents }, inContents(priority, searched));
  expect(unpriced.row?.receipt?.map(({ part }) => part).slice(3)).toEqual([
    'unpriced.web_search',
    'unpriced.service_tier.priority',
  ]);
});

test('a dearer tier that nobody set a price for is refused', async () => {
  const body = { contents, serviceTier: 'PRIORITY' };
  const { status } = await send(own('bare'), body, inContents({}));
  expect([status, upstream.asked]).toEqual([400, []]);
  expect((await send(own('terms'), body, inContents(priority))).status).toBe(200);
});
