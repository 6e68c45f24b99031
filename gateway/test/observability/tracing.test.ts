import { trace } from '@opentelemetry/api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  ask,
  describeChannels,
  only,
  openGateway,
  shareGateway,
  type ChannelSketch,
} from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { oneOfVectors } from './support.ts';
import { MemoryTracerProvider } from './memory-tracer-provider.ts';

const [chat, , , generateContent] = textProtocols;
if (chat === undefined || generateContent === undefined) throw new Error('protocols are missing');

// As a preloaded SDK does, before the gateway starts.
const provider = new MemoryTracerProvider();
beforeAll(() => {
  trace.setGlobalTracerProvider(provider);
});
afterAll(() => trace.disable());

const channels: readonly ChannelSketch[] = [
  {
    name: 'good',
    models: ['demo-chat', 'renamed -> demo-chat', 'both -> demo-chat', 'demo-embedding'],
  },
  {
    name: 'bad',
    at: '/fault(status=500)',
    models: ['broken -> demo-chat', 'both -> demo-chat'],
    more: ['priority: 1'],
  },
];
const shared = shareGateway({ config: describeChannels(channels) });

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

const spansOf = (id: string) => {
  const root = only(provider.spans.filter((span) => span.attributes['sluice.request.id'] === id));
  return { root, attempts: provider.spans.filter((span) => span.parent?.spanId === root.spanId) };
};

test('a span per exchange with the GenAI names, below it one per attempt', async () => {
  const { gateway } = shared;
  const { id } = await ask(gateway, chat, true, 'renamed');
  const { root, attempts } = spansOf(id);
  const row = only((await gateway.usage()).filter((each) => each.id === id));
  const address = new URL(gateway.simulator.url);
  const target = {
    'gen_ai.provider.name': 'simulator',
    'server.address': address.hostname,
    'server.port': Number(address.port),
  };
  expect(root).toMatchObject({
    name: 'chat renamed',
    kind: 'SERVER',
    error: false,
    parent: null,
    startTime: Date.parse(row.time),
  });
  expect(root.endTime).toBeGreaterThanOrEqual(Date.parse(row.time));
  expect(root.attributes).toEqual({
    ...target,
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'renamed',
    'gen_ai.request.stream': true,
    'gen_ai.response.model': 'demo-chat',
    'gen_ai.response.time_to_first_chunk': expect.any(Number),
    'gen_ai.usage.input_tokens': row.tokens.input + row.tokens.cache_read,
    'gen_ai.usage.output_tokens': row.tokens.output,
    'gen_ai.usage.cache_read.input_tokens': row.tokens.cache_read,
    'gen_ai.usage.cache_creation.input_tokens': 0,
    'gen_ai.usage.reasoning.output_tokens': row.tokens.reasoning,
    'http.response.status_code': 200,
    'sluice.request.id': id,
    'sluice.key.id': expect.any(String),
    'sluice.key.name': 'test',
    'sluice.protocol': 'chat',
    'sluice.outcome': 'completed',
    'sluice.attempts': 1,
    'sluice.channel': 'good',
  });
  const attempt = only(attempts);
  expect(attempt).toMatchObject({ name: 'chat renamed', kind: 'CLIENT', error: false });
  expect(attempt.attributes).toEqual({
    ...target,
    'gen_ai.operation.name': 'chat',
    'sluice.channel': 'good',
    'http.response.status_code': 200,
  });
});

test('a failed attempt is an error of its own span, not of the exchange that another one saved', async () => {
  const { id, status } = await ask(shared.gateway, generateContent, false, 'both');
  expect(status).toBe(200);
  const { root, attempts } = spansOf(id);
  expect(root).toMatchObject({ name: 'generate_content both', error: false });
  expect(attempts.map(({ error, attributes }) => [attributes['sluice.channel'], error])).toEqual([
    ['bad', true],
    ['good', false],
  ]);
  expect(attempts[0]?.attributes).toMatchObject({ 'error.type': 'abnormal' });
});

test('a failed exchange is an error; a refused one is its client’s', async () => {
  const failed = spansOf((await ask(shared.gateway, chat, false, 'broken')).id);
  expect(failed.root).toMatchObject({ error: true });
  expect(failed.root.attributes).toMatchObject({
    'http.response.status_code': 502,
    'error.type': 'upstream_abnormal',
  });
  const refused = spansOf((await ask(shared.gateway, chat, false, 'no-such-model')).id);
  // Span names are grouped by: nothing a client invents gets into one.
  expect(refused.root).toMatchObject({ name: 'chat', error: false });
  expect(refused.attempts).toEqual([]);
});

test('the trace continues where the client’s traceparent says, and no further', async () => {
  const { gateway } = shared;
  gateway.simulator.clear();
  const headers = { traceparent, tracestate: 'vendor=1', baggage: 'user=somebody' };
  const { id } = await ask(gateway, chat, false, 'demo-chat', headers);
  const { root, attempts } = spansOf(id);
  expect(root.traceId).toBe(traceId);
  expect(root.parent).toMatchObject({ spanId, isRemote: true });
  expect(only(attempts).traceId).toBe(traceId);
  const sent = only(gateway.simulator.requests());
  for (const name of ['traceparent', 'tracestate', 'baggage']) {
    expect(sent.headers).not.toHaveProperty(name);
  }
});

test('a malformed traceparent starts a new trace', async () => {
  const headers = { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` };
  const { root } = spansOf((await ask(shared.gateway, chat, false, 'demo-chat', headers)).id);
  expect(root.parent).toBeNull();
});

test('the span of embeddings has the name that the conventions give it', async () => {
  const gateway = await openGateway({ config: oneOfVectors });
  const body = { model: 'demo-embedding', input: 'some words' };
  const response = await gateway.post('/v1/embeddings', body);
  expect(response.status).toBe(200);
  const { root } = spansOf(response.headers.get('x-request-id') ?? '');
  expect(root.name).toBe('embeddings demo-embedding');
  expect(root.attributes['gen_ai.operation.name']).toBe('embeddings');
});

test('the span of pictures has the name of content of any kind', async () => {
  const gateway = await openGateway({
    config: `
channels: [{ name: sim, provider: simulator, base_url: SIMULATOR, models: [demo-image] }]
models: [{ id: demo-image, type: image, price: { input: 0, output: 0 } }]
`,
  });
  const body = { model: 'demo-image', prompt: 'a house', size: '64x64' };
  const response = await gateway.post('/v1/images/generations', body);
  expect(response.status).toBe(200);
  const { root } = spansOf(response.headers.get('x-request-id') ?? '');
  expect(root.name).toBe('generate_content demo-image');
});
