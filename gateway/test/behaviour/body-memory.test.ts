import { expect, test } from 'vitest';
import { bodyPlaces } from '../support/body-places.ts';
import { testKey } from '../support/gateway.ts';
import { ask, askRaw, openGateway, shareGateway, until } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const [chat] = textProtocols as [(typeof textProtocols)[number]];
const shared = shareGateway({});

async function held(url = shared.gateway.url): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^sluice_body_memory_bytes (\d+)/m.exec(text)?.[1]);
}

/** A prompt of this many bytes. */
const prompt = (bytes: number, stream: boolean) => ({
  model: 'demo-chat',
  stream,
  messages: [{ role: 'user', content: 'a'.repeat(bytes) }],
});

test.each([
  ['a response', 'events=3', 200],
  ['an upstream that fails', 'status=500', 502],
  ['an upstream that refuses', 'status=400', 400],
  ['a stream that breaks', 'cut-at=2', 200],
])('memory of a body is released: %s', async (_name, fault, status) => {
  const { gateway } = shared;
  for (const stream of [false, true]) {
    if (fault === 'cut-at=2' && !stream) continue;
    const response = await gateway.post('/v1/chat/completions', prompt(300_000, stream), {
      'x-simulator-fault': fault,
    });
    await response.text();
    expect([status, 502]).toContain(response.status);
  }
  await until(async () => (await held()) === 0, 'all is given back');
});

test.each(textProtocols)('memory of a refused body is released ($name)', async (protocol) => {
  const { gateway } = shared;
  expect((await ask(gateway, protocol, false, 'nowhere')).status).toBe(400);
  const response = await gateway.post(protocol.path('demo-chat', false), '{"model":');
  expect(response.status).toBe(400);
  await response.text();
  await until(async () => (await held()) === 0, 'all is given back');
});

test('the text of a stream counts until its response is shown, the text of another response until it is sent', async () => {
  const { gateway } = shared;
  const streamed = await gateway.post('/v1/chat/completions', prompt(300_000, true), {
    'x-simulator-fault': 'gap=200;events=10',
  });
  expect(streamed.status).toBe(200);
  await until(async () => (await held()) === 0, 'the text of the stream is forgotten');
  const whole = gateway.post('/v1/chat/completions', prompt(300_000, false), {
    'x-simulator-fault': 'delay=700',
  });
  await until(async () => (await held()) > 900_000, 'the other one is held');
  await (await whole).text();
  await streamed.text();
  await until(async () => (await held()) === 0, 'all is given back');
});

test('a client that disconnects holds memory until the response has been drained', async () => {
  const { gateway } = shared;
  gateway.simulator.clear();
  const client = await askRaw(gateway, chat, false, 'demo-chat', ['x-simulator-fault: delay=600']);
  await until(() => gateway.simulator.requests().length === 1, 'the upstream was asked');
  client.socket.resetAndDestroy();
  expect(await held()).toBeGreaterThan(0);
  await until(async () => (await held()) === 0, 'all is given back');
});

test('a body whose values need more memory than is left gets 503 before it is parsed', async () => {
  const gateway = await openGateway({
    config: `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat] }
limits: { body_memory: 4MiB }
`,
    // A thread has a heap with a limit of its own.
    bodyWeights: bodyPlaces.here,
  });
  const values = `[${'[],'.repeat(4_900)}[]]`;
  const dense = `{"model":"demo-chat","messages":[{"role":"user","content":"hi"}],"metadata":${values}}`;
  const running = gateway.post('/v1/chat/completions', prompt(950_000, false), {
    'x-simulator-fault': 'delay=1500',
  });
  await until(async () => (await held(gateway.url)) > 2_000_000, 'one is under way');
  const response = await gateway.post('/v1/chat/completions', dense);
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await response.text()).toContain('server_is_overloaded');
  expect((await running).status).toBe(200);
  // Alone it is read.
  expect((await gateway.post('/v1/chat/completions', dense)).status).toBe(200);
  expect(await (await fetch(`${gateway.url}/metrics`)).text()).toMatch(
    /^sluice_body_memory_refusals_total 1$/m,
  );
});

test('a key without money gets the same refusal for each of its large bodies', async () => {
  const gateway = await openGateway({
    config: `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat] }
users:
  - { email: poor@example.com, balance: 0 }
keys:
  - { name: poor, user: poor@example.com, secret: ${testKey} }
`,
  });
  const large = () => gateway.post('/v1/chat/completions', prompt(3 * 2 ** 20, false));
  const statuses = (await Promise.all([large(), large(), large()])).map(({ status }) => status);
  expect(statuses).toEqual([402, 402, 402]);
  await until(async () => (await held(gateway.url)) === 0, 'all is given back');
});
