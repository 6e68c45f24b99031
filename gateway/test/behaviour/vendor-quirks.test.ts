import { expect, onTestFinished, test, vi } from 'vitest';
import type { ChannelAddress, Vendor } from '#vendors/index.ts';
import { openGateway, only, rowOf, shareOwnUpstream } from './support.ts';

/* A vendor with a header of its own that refuses two members of its protocol, and nothing that knows it but its folder. */

vi.mock('#vendors/index.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('#vendors/index.ts')>();
  const common = original.findVendor('openai-compatible')!;
  const madeUp: Vendor = {
    ...common,
    name: 'made-up',
    headers: (secret) => ({ 'x-made-up-key': secret ?? '', 'x-made-up-version': '2' }),
    quirks: [
      { id: 'p96', protocol: 'chat', edit: { drop: 'stream_options' } },
      { id: 'p97', protocol: 'chat', edit: { drop: 'messages[].name' } },
      { id: 'p98', protocol: 'chat', models: /^up$/, edit: { rename: 'stop', to: 'stop_words' } },
      { id: 'p99', protocol: 'chat', models: /^other$/, edit: { drop: 'seed' } },
    ],
  };
  return {
    ...original,
    vendorOf: (channel: ChannelAddress & { name: string }) =>
      channel.name === 'made-up' ? madeUp : original.vendorOf(channel),
  };
});

const shared = shareOwnUpstream();

const open = () =>
  openGateway({
    config: `
channels:
  - { name: made-up, provider: openai-compatible, base_url: "${shared.upstream.url}/v1", api_key: vendor-secret-123, models: [{ name: quirky, upstream: up }] }
  - { name: plain, provider: openai-compatible, base_url: "${shared.upstream.url}/v1", api_key: vendor-secret-123, models: [{ name: plain, upstream: up }] }
models:
  - { id: quirky, type: chat, price: { input: 1, output: 2 } }
  - { id: plain, type: chat, price: { input: 1, output: 2 } }
`,
  });

const message = { role: 'user', name: 'ann', content: 'hi' };

test('it is signed in to in its own way, and not asked for what it refuses', async () => {
  const gateway = await open();
  const request = { model: 'quirky', messages: [message], stop: ['x'], seed: 1.0 };
  const response = await gateway.post('/v1/chat/completions', request);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-rewrites')).toBe('p97,p98');
  const asked = only(shared.upstream.asked);
  expect(asked.headers).toMatchObject({
    'x-made-up-key': 'vendor-secret-123',
    'x-made-up-version': '2',
  });
  expect(asked.headers.authorization).toBeUndefined();
  expect(asked.body).toEqual({
    model: 'up',
    messages: [{ role: 'user', content: 'hi' }],
    stop_words: ['x'],
    seed: 1,
  });
  const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
  expect(row.rewrites).toEqual(['p97', 'p98']);
});

test('a converted request is edited too', async () => {
  const gateway = await open();
  const response = await gateway.post('/v1/messages', {
    model: 'quirky',
    max_tokens: 10,
    stop_sequences: ['x'],
    messages: [{ role: 'user', content: 'hi' }],
  });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-sluice-rewrites')).toBe('p98');
  expect(only(shared.upstream.asked).body).toMatchObject({ stop_words: ['x'] });
  expect(only(shared.upstream.asked).body).not.toHaveProperty('stop');
});

test('it is not asked for the usage of a stream either, and its usage counts', async () => {
  const gateway = await open();
  const json = shared.upstream.answer;
  onTestFinished(() => void (shared.upstream.answer = json));
  shared.upstream.answer = (_asked, response) => {
    const chunk = (delta: object, more: object = {}) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`;
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      `${chunk({ content: 'Hi' })}${chunk({}, { finish_reason: 'stop' }).replace('}\n', `,"usage":${JSON.stringify(usage)}}\n`)}data: [DONE]\n\n`,
    );
  };
  for (const options of [{}, { stream_options: { include_usage: true } }]) {
    shared.upstream.clear();
    const response = await gateway.post('/v1/chat/completions', {
      model: 'quirky',
      messages: [{ role: 'user', content: 'hi' }],
      stream: true,
      ...options,
    });
    expect(await response.text()).toContain('[DONE]');
    expect(only(shared.upstream.asked).body).not.toHaveProperty('stream_options');
    const row = await rowOf(gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ tokens: { input: 3, output: 2 } });
  }
});

test('no other vendor is asked differently', async () => {
  const gateway = await open();
  const request = { model: 'plain', messages: [message], stop: ['x'] };
  const response = await gateway.post('/v1/chat/completions', request);
  expect(response.headers.get('x-sluice-rewrites')).toBeNull();
  expect(only(shared.upstream.asked).body).toEqual({ ...request, model: 'up' });
});
