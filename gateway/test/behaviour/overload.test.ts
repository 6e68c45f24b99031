import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../faults/ledger-simulation.ts';
import { runClients } from '../faults/load.ts';
import { allRows, reconcileLogs } from '../faults/reconcile.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import {
  ask,
  askRaw,
  describeChannels,
  openGateway,
  rawPost,
  sendRaw,
  shareGateway,
  until,
} from './support.ts';
import { textProtocols } from './text-protocols.ts';

const [chat] = textProtocols as [(typeof textProtocols)[number]];
const slow = { 'x-simulator-fault': 'gap=100;events=20' };

const limitedTo = (inFlight: number, queue: number) => ({
  config: `${describeChannels([{ name: 'sim', models: ['demo-chat'] }])}\nlimits: { in_flight: ${inFlight}, queue: ${queue}, key_concurrency: 1000 }\n`,
});
const open = (inFlight: number, queue: number, highLag = Infinity): Promise<TestGateway> =>
  openGateway({ ...limitedTo(inFlight, queue), highLag });
/** For tests that leave it as free as they found it. */
const onePlace = shareGateway(limitedTo(1, 0));

async function openExchanges({ url }: TestGateway): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('sluice_open_exchanges{'));
  expect(lines.length).toBeGreaterThan(0);
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** A stream under way. */
async function startStream(
  gateway: TestGateway,
  headers: Record<string, string> = slow,
  signal?: AbortSignal,
) {
  const response = await fetch(gateway.url + chat.path('demo-chat', true), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${testKey}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(chat.body('demo-chat', true)),
    signal: signal ?? null,
  });
  expect(response.status).toBe(200);
  return response;
}

describe.each(textProtocols)('R-24 $name: more requests than slots', (protocol) => {
  test('excess requests are refused at once in the protocol’s shape, and the stream continues', async () => {
    const { gateway } = onePlace;
    gateway.simulator.clear();
    const before = (await gateway.usage()).length;
    const running = await startStream(gateway);
    for (const stream of [true, false]) {
      const response = await ask(gateway, protocol, stream);
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('1');
      expect(protocol.errorMessage(JSON.parse(response.text))).toContain('temporarily unavailable');
    }
    expect(gateway.simulator.requests()).toHaveLength(1);
    expect(await running.text()).toMatch(chat.terminator);
    expect((await ask(gateway, protocol, false)).status).toBe(200);
    expect(await gateway.usage()).toHaveLength(before + 2);
  });
});

test('R-24 a refusal waits for nothing and needs no body', async () => {
  const { gateway } = onePlace;
  const leaving = new AbortController();
  const running = await startStream(
    gateway,
    { 'x-simulator-fault': 'gap=1000;events=60' },
    leaving.signal,
  );
  for (let round = 0; round < 5; round += 1) {
    // The slot is taken all the time: a request that waited for it would wait for a minute.
    expect((await ask(gateway, chat, false)).status).toBe(503);
  }

  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\ncontent-length: 20000000\r\n\r\n{`;
  const client = await sendRaw(gateway.url, head);
  await until(() => client.received().startsWith('HTTP/1.1 503'), 'refused by its head', 3_000);
  client.socket.destroy();
  // Used until here: `fetch` cancels the body of a response that nothing refers to any more.
  expect(running.bodyUsed).toBe(false);
  leaving.abort();
  await until(async () => (await ask(gateway, chat, false)).status === 200, 'its place is free');
});

test('R-24 health, lists, the console and metrics respond during overload', async () => {
  const { gateway } = onePlace;
  const running = await startStream(gateway);
  const headers = { authorization: `Bearer ${testKey}` };
  const paths = ['/health', '/ready', '/metrics', '/console', '/v1/models', '/v1beta/models'];
  for (const path of paths) {
    expect((await fetch(gateway.url + path, { headers })).status).toBe(200);
  }
  // An unauthenticated caller gets 401, not a request to retry.
  const stranger = await fetch(`${gateway.url}/v1/messages`, { method: 'POST' });
  expect(stranger.status).toBe(401);
  await running.text();
});

test('R-24 queued requests are served in turn, those of disconnected clients are not', async () => {
  const gateway = await open(1, 3);
  const running = await startStream(gateway);
  const text = (each: string) => ask(gateway, chat, false, 'demo-chat', {}, each);
  const order: string[] = [];
  const first = text('first').then((response) => order.push(`first ${response.status}`));
  await wait(50);
  const left = await askRaw(gateway, chat, false, 'demo-chat', [], 'left');
  await wait(50);
  const second = text('second').then((response) => order.push(`second ${response.status}`));
  await wait(50);
  expect((await text('too many')).status).toBe(503);
  left.socket.resetAndDestroy();
  expect(await running.text()).toMatch(chat.terminator);
  await Promise.all([first, second]);
  expect(order).toEqual(['first 200', 'second 200']);
  const asked = gateway.simulator.requests().map(({ json }) => JSON.stringify(json));
  expect(asked).toHaveLength(3);
  expect(asked.join()).not.toContain('left');
});

test('requests that wait for a slot are in the metrics as long as they wait', async () => {
  const gateway = await open(1, 5);
  const waiting = async (): Promise<number> => {
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    return Number(/^sluice_waiting_requests (\d+)$/m.exec(text)?.[1]);
  };
  expect(await waiting()).toBe(0);
  const running = await startStream(gateway);
  const queued = [ask(gateway, chat, false), ask(gateway, chat, false)];
  await until(async () => (await waiting()) === 2, 'two requests wait');
  await running.text();
  await Promise.all(queued);
  expect(await waiting()).toBe(0);
});

test('R-20 a half-closed client that would have to queue is asked to retry', async () => {
  const gateway = await open(1, 3);
  const running = await startStream(gateway);
  const client = await askRaw(gateway, chat, false);
  client.socket.end();
  await until(() => client.received().startsWith('HTTP/1.1 '), 'a response', 1_500);
  expect(client.received()).toMatch(/^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n/i);
  await running.text();
});

test('R-24 every slot is released, however its request ended', async () => {
  const gateway = await open(4, 0);
  const bodies = [
    ['{', {}],
    ['{"model":"nobody"}', {}],
    [chat.body('demo-chat', false), { 'x-simulator-fault': 'status=500' }],
    [chat.body('demo-chat', true), { 'x-simulator-fault': 'events=30;cut-at=5' }],
    [chat.body('demo-chat', true), {}],
    [chat.body('demo-chat', false), { 'content-type': 'text/plain' }],
  ] as const;
  for (let round = 0; round < 2; round += 1) {
    for (const [body, headers] of bodies) {
      const response = await gateway.post('/v1/chat/completions', body, headers);
      expect(response.status).not.toBe(503);
      await response.text();
    }
    const request = rawPost(chat.path('demo-chat', true), chat.body('demo-chat', true), [
      'x-simulator-fault: events=50;gap=50',
    ]);
    // In the middle of a body, in the middle of a response, and with a second request waiting behind the first.
    for (const bytes of [request.slice(0, -5), request, request + request]) {
      const client = await sendRaw(gateway.url, bytes);
      await wait(100);
      client.socket.resetAndDestroy();
    }
    await until(async () => (await openExchanges(gateway)) === 0, 'all have ended');
  }
  const running = await Promise.all(Array.from({ length: 4 }, () => startStream(gateway)));
  expect(running.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect((await ask(gateway, chat, false)).status).toBe(503);
  await Promise.all(running.map((response) => response.text()));
});

test('R-24 under heavy overload each request is refused without a trace or answered truthfully', async () => {
  const gateway = await open(3, 2);
  let begun = 0;
  const seen = await runClients(
    {
      url: gateway.url,
      key: testKey,
      random: createRandom(24),
      onCompleted: () => {},
      faults: ['', 'gap=5', 'delay=30', 'cut-at=4', 'status=400'],
      wanted: () => (begun += 1) <= runs(200, 400),
    },
    25,
  );
  const refused = seen.filter(({ status }) => status === 503);
  expect(refused.length).toBeGreaterThan(20);
  await gateway.usage();
  const rows = await allRows(gateway.app.database);
  const known = new Set(rows.map(({ id }) => id));
  expect(refused.filter(({ id }) => known.has(id ?? ''))).toEqual([]);
  const received = gateway.simulator.requests();
  const asked = received.map(({ body }) => body).join();
  expect(refused.filter(({ mark }) => asked.includes(`${mark}.`))).toEqual([]);
  const admitted = seen.filter(({ status }) => status !== 503);
  expect(admitted.filter(({ completed }) => completed).length).toBeGreaterThan(5);
  expect(reconcileLogs(admitted, rows, received)).toEqual([]);
});

test('R-19 a response drained for a disconnected client keeps its slot until the end', async () => {
  const { gateway } = onePlace;
  gateway.simulator.clear();
  const client = await askRaw(gateway, chat, false, 'demo-chat', ['x-simulator-fault: delay=600']);
  await until(() => gateway.simulator.requests().length === 1, 'the upstream was asked');
  client.socket.resetAndDestroy();
  await wait(100);
  expect((await ask(gateway, chat, false)).status).toBe(503);
  await until(async () => (await ask(gateway, chat, false)).status === 200, 'its place is free');
});

test('R-24 an overloaded process refuses large bodies, serves small ones, and logs it', async () => {
  const gateway = await open(100, 100, 200);
  const running = await startStream(gateway, { 'x-simulator-fault': 'gap=100;events=20' });
  const large = 'x'.repeat(300_000);
  const ready = async () => (await fetch(`${gateway.url}/ready`)).json();
  let busy = true;
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  const block = (): void => {
    // Asleep, the thread answers nothing either.
    Atomics.wait(nobody, 0, 0, 250);
    if (busy) setTimeout(block, 1);
  };
  block();
  const seen: unknown[] = [];
  const isRefused = async () => {
    const response = await ask(gateway, chat, false, 'demo-chat', {}, large);
    if (response.status !== 503) return false;
    const small = await ask(gateway, chat, false);
    seen.push(response.headers.get('retry-after'), small.status, await ready());
    return true;
  };
  await until(isRefused, 'the large one is refused', 15_000).finally(() => {
    busy = false;
  });
  expect(seen).toEqual(['1', 200, { status: 'ok', degraded: ['lag'] }]);
  expect(await running.text()).toMatch(chat.terminator);
  await until(
    async () => (await ask(gateway, chat, false, 'demo-chat', {}, large)).status === 200,
    'it serves them again',
  );
  expect(await ready()).toEqual({ status: 'ok', degraded: [] });
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(
    /^sluice_overload_refusals_total\{cause="lag"\} [1-9]/m,
  );
});
