import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { createImage } from 'simulator';
import { expect, test } from 'vitest';
import { imageChannel, imageModel, tester } from '../behaviour/image-requests.ts';
import { ask, describeChannels, openGateway, shareGateway, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { oneOfVectors, openStream, scrape, valueOf } from './support.ts';

const [chat, , messages] = textProtocols;
if (chat === undefined || messages === undefined) throw new Error('protocols are missing');

test('requests, tokens, times and attempts are counted with the catalogue id as the model', async () => {
  const gateway = await openGateway({
    config: `${describeChannels([{ name: 'sim', models: ['demo-chat'] }])}
aliases: { favourite: demo-chat }
`,
  });
  await ask(gateway, chat, false);
  await ask(gateway, chat, true, 'favourite');
  await ask(gateway, messages, false, 'no-such-model');
  const metrics = await scrape(gateway.url);
  const count = (labels: Record<string, string>) =>
    valueOf(metrics, 'sluice_requests_total', { operation: 'generate', ...labels });
  expect(
    count({ protocol: 'chat', model: 'demo-chat', outcome: 'completed', status_class: '2xx' }),
  ).toBe(2);
  expect(
    count({ protocol: 'messages', model: 'other', outcome: 'refused', status_class: '4xx' }),
  ).toBe(1);
  const rows = (await gateway.usage()).filter((row) => row.outcome === 'completed');
  const output = rows.reduce((sum, row) => sum + row.tokens.output, 0);
  expect(output).toBeGreaterThan(0);
  expect(valueOf(metrics, 'sluice_tokens_total', { model: 'demo-chat', kind: 'output' })).toBe(
    output,
  );
  for (const stream of ['true', 'false']) {
    const labels = { model: 'demo-chat', stream };
    expect(valueOf(metrics, 'sluice_request_duration_seconds_count', labels)).toBe(1);
  }
  const streams = { model: 'demo-chat' };
  expect(valueOf(metrics, 'sluice_time_to_first_token_seconds_count', streams)).toBe(1);
  const completed = { channel: 'sim', result: 'completed' };
  expect(valueOf(metrics, 'sluice_attempts_total', completed)).toBe(2);
  expect(valueOf(metrics, 'sluice_journal_usable')).toBe(1);
  expect(valueOf(metrics, 'sluice_open_connections')).toBeGreaterThan(0);
  expect(metrics).toMatch(/^process_resident_memory_bytes \d/m);
  expect(metrics).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
});

test('the tokens and the time of embeddings are counted like those of text', async () => {
  const gateway = await openGateway({ config: oneOfVectors });
  const body = { model: 'demo-embedding', input: 'some words' };
  expect((await gateway.post('/v1/embeddings', body)).status).toBe(200);
  const [row] = await gateway.usage();
  const metrics = await scrape(gateway.url);
  const model = 'demo-embedding';
  expect(row?.tokens.input).toBeGreaterThan(0);
  expect(valueOf(metrics, 'sluice_tokens_total', { model, kind: 'input' })).toBe(row?.tokens.input);
  expect(valueOf(metrics, 'sluice_usage_total', { source: 'reported' })).toBe(1);
  const labels = { model, stream: 'false' };
  expect(valueOf(metrics, 'sluice_request_duration_seconds_count', labels)).toBe(1);
});

test('pictures are counted, layers apart', async () => {
  const gateway = await openGateway({
    config: `
channels:
${imageChannel({ name: 'demo-image' })}
${imageChannel({ name: 'demo-layers', upstream: 'demo-layers' })}
models:
${imageModel({ id: 'demo-image' })}
${imageModel({ id: 'demo-layers', can: 'layers' })}
${tester}
`,
  });
  const draw = async (body: object) =>
    (await gateway.post('/v1/images/generations', { prompt: '2 layers', ...body })).status;
  const image = createImage({ type: 'png', width: 64, height: 64 }).toString('base64');
  expect(await draw({ model: 'demo-image', n: 3, size: '256x256' })).toBe(200);
  expect(await draw({ model: 'demo-layers', image: image, layer_decomposition: true })).toBe(200);
  expect(await draw({ model: 'demo-image', n: 11 })).toBe(400);
  const metrics = await scrape(gateway.url);
  const count = (model: string, kind: string) =>
    valueOf(metrics, 'sluice_images_total', { model, kind });
  expect(count('demo-image', 'images')).toBe(3);
  expect([count('demo-layers', 'images'), count('demo-layers', 'layers')]).toEqual([1, 2]);
});

test('a failover is counted for the channel that failed', async () => {
  const gateway = await openGateway({
    config: describeChannels([
      { name: 'bad', at: '/fault(status=500)', models: ['demo-chat'], more: ['priority: 1'] },
      { name: 'good', models: ['demo-chat'], more: ['priority: 0'] },
    ]),
  });
  expect((await ask(gateway, chat, false)).status).toBe(200);
  const metrics = await scrape(gateway.url);
  expect(valueOf(metrics, 'sluice_failovers_total', { channel: 'bad' })).toBe(1);
  expect(valueOf(metrics, 'sluice_failovers_total', { channel: 'good' })).toBeNull();
});

test('open exchanges are counted while they last, however they end', async () => {
  const gateway = await openGateway({
    config: describeChannels([{ name: 'slow', at: '/fault(gap=100)', models: ['demo-chat'] }]),
  });
  const streams = async () =>
    valueOf(await scrape(gateway.url), 'sluice_open_exchanges', { kind: 'stream' });
  const leave = await openStream(gateway, chat);
  expect(await streams()).toBe(1);
  leave();
  await until(async () => (await streams()) === 0, 'the stream is over');
});

test('a refusal before the model is known is counted by its error', async () => {
  const gateway = await openGateway();
  await fetch(`${gateway.url}/v1/models`);
  await fetch(`${gateway.url}/v1/models`, { headers: { authorization: 'Bearer sk-wrong' } });
  await fetch(`${gateway.url}/no/such/path`);
  const metrics = await scrape(gateway.url);
  for (const error of ['missing_key', 'invalid_key', 'not_found']) {
    expect([error, valueOf(metrics, 'sluice_refusals_total', { error })]).toEqual([error, 1]);
  }
});

const shared = shareGateway({});

test('S-45 a thousand unknown model names create no series', async () => {
  const { gateway } = shared;
  const seriesOf = async () => {
    const lines = (await scrape(gateway.url)).split('\n');
    return lines.filter((line) => line.startsWith('sluice_')).map((line) => line.split(' ')[0]);
  };
  await ask(gateway, chat, false, 'one-unknown-model');
  const before = await seriesOf();
  const names = Array.from({ length: 1_000 }, () => randomBytes(12).toString('hex'));
  const next = names.values();
  await Promise.all(
    Array.from({ length: 32 }, async () => {
      for (const name of next) await ask(gateway, chat, false, name);
    }),
  );
  expect(await seriesOf()).toEqual(before);
  const other = { model: 'other', protocol: 'chat', outcome: 'refused' };
  const metrics = await scrape(gateway.url);
  expect(valueOf(metrics, 'sluice_requests_total', other)).toBe(1_001);
});

test.each(['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'])(
  'without a token a request through a proxy may not scrape (%s)',
  async (name) => {
    const { gateway } = shared;
    const response = await fetch(`${gateway.url}/metrics`, { headers: { [name]: '127.0.0.1' } });
    expect(response.status).toBe(404);
  },
);

test('without a token only this machine may scrape', async () => {
  const { gateway } = shared;
  const response = await fetch(`${gateway.url}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect((await fetch(`${gateway.url}/metrics`, { method: 'POST' })).status).toBe(404);
});

test('with a token its bearer may scrape, from anywhere, and nobody else', async () => {
  const token = 'scrape-me-7f3a';
  const gateway = await openGateway({
    config: `${describeChannels([{ name: 'sim', models: ['demo-chat'] }])}
metrics: { token: ${token} }
`,
  });
  const status = (headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      httpRequest(`${gateway.url}/metrics`, { headers }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
  expect(await status({ authorization: `Bearer ${token}` })).toBe(200);
  expect(await status({ authorization: `bearer  ${token} `, via: '1.1 proxy' })).toBe(200);
  for (const wrong of ['', token, 'Bearer', `Bearer ${token}x`, `Basic ${token}`, 'Bearer é']) {
    expect([wrong, await status({ authorization: wrong })]).toEqual([wrong, 404]);
  }
  expect(await status({})).toBe(404);
});
