import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startSimulator, type ReceivedRequest, type Simulator } from '../src/index.ts';
import { ask, askRaw, minimal } from './client.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());
beforeEach(() => simulator.clear());

async function overHttp(): Promise<ReceivedRequest[]> {
  return (await (await fetch(`${simulator.url}/__requests`)).json()) as ReceivedRequest[];
}

test('a request is logged as received, with its outcome', async () => {
  await ask(simulator, 'chat', { stream: true }, { 'X-Mixed-Case': 'Kept' });
  await expect.poll(() => simulator.requests()[0]?.finished).toBe(true);
  const [logged] = await overHttp();
  expect(logged).toMatchObject({
    method: 'POST',
    path: '/v1/chat/completions',
    bodyBase64: null,
    bodyTruncated: false,
    status: 200,
    finished: true,
    clientLeft: false,
    fault: '',
    json: { model: 'demo-chat', stream: true },
  });
  expect(logged?.body).toBe(JSON.stringify({ ...minimal.chat.body, stream: true }));
  expect(logged?.bodyBytes).toBe(Buffer.byteLength(logged?.body ?? ''));
  expect(logged?.headers).toContainEqual(['x-mixed-case', 'Kept']);
  expect(logged?.eventsSent).toBeGreaterThan(5);
});

test('duplicate headers stay apart', async () => {
  await new Promise<void>((resolve) => {
    const { path, body } = minimal.chat;
    const sent = request(simulator.url + path, {
      method: 'POST',
      headers: ['Host', 'x', 'Authorization', 'Bearer k', 'X-Two', 'a', 'X-Two', 'b'],
    });
    sent.on('response', (response) => response.resume().on('end', () => resolve()));
    sent.end(JSON.stringify(body));
  });
  const twice = simulator.requests()[0]?.headers.filter(([name]) => name === 'x-two');
  expect(twice).toEqual([
    ['x-two', 'a'],
    ['x-two', 'b'],
  ]);
});

test('refused requests are logged too, in order', async () => {
  await ask(simulator, 'chat', { messages: [] });
  await ask(simulator, 'messages', {});
  await fetch(`${simulator.url}/v1/nowhere?a=b`, { headers: { authorization: 'Bearer k' } });
  const requests = simulator.requests();
  expect(requests.map(({ status, path }) => [status, path])).toEqual([
    [400, '/v1/chat/completions'],
    [200, '/v1/messages'],
    [404, '/v1/nowhere?a=b'],
  ]);
  const sequences = requests.map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
});

test('a body that is not UTF-8 comes as base64, a compressed one parsed', async () => {
  const { path, headers, body } = minimal.chat;
  const compressed = gzipSync(JSON.stringify(body));
  const response = await fetch(simulator.url + path, {
    method: 'POST',
    headers: { ...headers, 'content-encoding': 'gzip' },
    body: compressed,
  });
  expect(response.status).toBe(200);
  expect(simulator.requests()[0]).toMatchObject({
    body: '',
    bodyBase64: compressed.toString('base64'),
    json: body,
  });
});

test('a large body is cut, its size and digest are true', async () => {
  const content = 'x'.repeat(2 ** 20);
  await ask(simulator, 'chat', { messages: [{ role: 'user', content }] });
  const sent = JSON.stringify({ ...minimal.chat.body, messages: [{ role: 'user', content }] });
  expect(simulator.requests()[0]).toMatchObject({
    bodyBytes: sent.length,
    bodyTruncated: true,
    bodySha256: createHash('sha256').update(sent).digest('hex'),
    json: null,
  });
  expect(simulator.requests()[0]?.body).toHaveLength(2 ** 20);
});

test('a disconnect is logged, and its connection closes', async () => {
  await askRaw(simulator, 'chat', { stream: true }, { 'x-simulator-fault': 'gap=100' }, 150);
  await expect.poll(() => simulator.aborted()).toBe(1);
  expect(simulator.requests()[0]).toMatchObject({ finished: false, clientLeft: true });
  expect(simulator.requests()[0]?.eventsSent).toBeLessThan(5);
});

test('connections can be counted from outside', async () => {
  const open = askRaw(simulator, 'chat', {}, { 'x-simulator-fault': 'stall' }, 400);
  await expect.poll(() => simulator.requests().length).toBe(1);
  const counts = (await (await fetch(`${simulator.url}/__connections`)).json()) as { open: number };
  expect(counts.open).toBeGreaterThanOrEqual(2);
  expect(simulator.connections()).toBeGreaterThanOrEqual(1);
  await open;
});

test('the log can be cleared, and the simulator reports that it is alive', async () => {
  await ask(simulator, 'chat');
  await fetch(`${simulator.url}/__requests`, { method: 'DELETE' });
  expect(await overHttp()).toEqual([]);
  const health = await fetch(`${simulator.url}/health`);
  expect(await health.json()).toEqual({ status: 'ok' });
});

test('the log keeps at most ten thousand requests', { timeout: 60_000 }, async () => {
  const { createRequestLog } = await import('../src/log/request-log.ts');
  const log = createRequestLog(() => 0);
  const body = Buffer.from('{}');
  const arrival = {
    method: 'POST',
    path: '/',
    rawHeaders: [],
    body,
    decoded: body,
    form: null,
    fault: '',
  };
  for (let index = 0; index < 10_050; index++) log.add(arrival, {} as never);
  expect(log.list()).toHaveLength(10_000);
  expect(log.list()[0]?.sequence).toBe(51);
});
