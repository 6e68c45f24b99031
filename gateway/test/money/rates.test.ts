import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { ask, jumpingClock, openGateway, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import type { TestGateway } from '../support/gateway.ts';

const secret = 'sk-test-0123456789abcdefghijklmnopqrstuv';
const other = 'sk-other-0123456789abcdefghijklmnopqrstuv';
const accounts = (key: string, more = '') => `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat, responses, messages, generate-content], models: [demo-chat] }
users: [{ email: u@example.com, balance: 100 }]
${more}
keys:
  - { name: k, user: u@example.com, secret: ${secret}, ${key} }`;

const [chat] = textProtocols;
const schemes = {
  bearer: { authorization: `Bearer ${secret}` },
  'x-api-key': { 'x-api-key': secret, authorization: '' },
  'x-goog-api-key': { 'x-goog-api-key': secret, authorization: '' },
};

async function statuses(gateway: TestGateway, count: number, headers = {}): Promise<number[]> {
  const responses = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      ask(
        gateway,
        textProtocols[index % textProtocols.length]!,
        index % 2 === 0,
        'demo-chat',
        headers,
      ),
    ),
  );
  return responses.map(({ status }) => status).toSorted((a, b) => a - b);
}

test.each(['rpm: 0', 'rph: 0', 'max_concurrency: 0', 'rpm: 0, max_concurrency: 1'])(
  '%s admits nobody, and no client is asked to wait',
  async (setting) => {
    const gateway = await openGateway({ config: accounts(setting) });
    for (const protocol of textProtocols) {
      const response = await ask(gateway, protocol, false, 'demo-chat');
      expect(response.status).toBe(429);
      expect(protocol.errorMessage(JSON.parse(response.text))).toBe('rate limit exceeded');
      expect(response.headers.get('retry-after')).toBeNull();
      expect(response.headers.get('retry-after-ms')).toBeNull();
      expect(response.headers.get('x-should-retry')).toBe('false');
    }
    expect(gateway.simulator.requests()).toHaveLength(0);
  },
);

describe.each([
  ['rpm', 'rpm: 3', 60],
  ['rph', 'rph: 3', 3_600],
])('%s', (_name, setting, window) => {
  test('exactly the limit at once, under every scheme and in every protocol', async () => {
    const gateway = await openGateway({ config: accounts(setting) });
    expect(await statuses(gateway, 8)).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    for (const headers of Object.values(schemes)) {
      for (const protocol of textProtocols) {
        const response = await ask(gateway, protocol, true, 'demo-chat', headers);
        expect(response.status).toBe(429);
        expect(protocol.errorMessage(JSON.parse(response.text))).toMatch(/^rate limit exceeded/);
        const after = Number(response.headers.get('retry-after'));
        expect(after).toBeGreaterThan(window - 30);
        expect(after).toBeLessThanOrEqual(window);
        expect(response.headers.get('x-should-retry')).toBe(after > 60 ? 'false' : null);
      }
    }
    expect(gateway.simulator.requests()).toHaveLength(3);
  });

  test('free requests are not counted: token counts and lists', async () => {
    const gateway = await openGateway({ config: accounts(setting) });
    const count = { model: 'demo-chat', messages: [{ role: 'user', content: 'hi' }] };
    const contents = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
    for (let turn = 0; turn < 5; turn += 1) {
      const responses = await Promise.all([
        gateway.post('/v1/messages/count_tokens', count),
        gateway.post('/v1beta/models/demo-chat:countTokens', contents),
        fetch(`${gateway.url}/v1/models`, { headers: schemes.bearer }),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    }
    expect(await statuses(gateway, 4)).toEqual([200, 200, 200, 429]);
  });
});

test('a later refusal keeps the count: a broken body was a request too', async () => {
  const gateway = await openGateway({ config: accounts('rpm: 2') });
  const broken = await gateway.post(chat!.path('demo-chat', false), '{');
  expect(broken.status).toBe(400);
  expect(await statuses(gateway, 2)).toEqual([200, 429]);
});

test('a refused request is not counted', async () => {
  const gateway = await openGateway({ config: accounts('rpm: 1, ips: ["10.0.0.0/8"]') });
  expect(await statuses(gateway, 2)).toEqual([403, 403]);
});

test('a rate of zero admits nothing', async () => {
  const gateway = await openGateway({ config: accounts('rpm: 0') });
  expect(await statuses(gateway, 1)).toEqual([429]);
});

describe('concurrency', () => {
  test('covers requests in flight, streams to their last byte', async () => {
    const gateway = await openGateway({ config: accounts('max_concurrency: 2') });
    const slow = { 'x-simulator-fault': 'events=10;gap=40' };
    expect(await statuses(gateway, 5, slow)).toEqual([200, 200, 429, 429, 429]);
    expect(await statuses(gateway, 2)).toEqual([200, 200]);
    gateway.simulator.clear();
    const running = statuses(gateway, 2, { 'x-simulator-fault': 'events=40;gap=40' });
    await until(() => gateway.simulator.requests().length === 2, 'both are under way');
    const response = await ask(gateway, chat!, false);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
    await running;
  });

  test('releases the slot of a request that is refused later', async () => {
    const gateway = await openGateway({ config: accounts('max_concurrency: 1') });
    const { post } = gateway;
    for (const protocol of textProtocols) {
      const path = protocol.path('demo-chat', false);
      const body = protocol.body('demo-chat', false);
      const [asked] = Object.keys(body).filter((name) => /messages|input|contents/.test(name));
      for (const refused of [
        '{',
        '[]',
        { ...body, [asked!]: null },
        { ...body, [asked!]: undefined },
      ]) {
        const response = await post(path, refused);
        expect([refused, response.status, await response.text()]).toEqual([
          refused,
          400,
          expect.not.stringContaining('rate limit'),
        ]);
      }
      const unknown = await post(protocol.path('nobody-has-it', false), {
        ...body,
        ...('model' in body && { model: 'nobody-has-it' }),
      });
      expect(unknown.status).toBe(400);
      await unknown.text();
      expect((await ask(gateway, protocol, true)).status).toBe(200);
    }
    expect(gateway.simulator.requests()).toHaveLength(textProtocols.length);
  });

  test('releases the slot of a client that disconnects', async () => {
    const gateway = await openGateway({ config: accounts('max_concurrency: 1') });
    for (let turn = 0; turn < 3; turn += 1) {
      const leaving = new AbortController();
      const response = await fetch(gateway.url + chat!.path('demo-chat', true), {
        method: 'POST',
        headers: {
          ...schemes.bearer,
          'content-type': 'application/json',
          'x-simulator-fault': 'events=100;gap=50',
        },
        body: JSON.stringify(chat!.body('demo-chat', true)),
        signal: leaving.signal,
      });
      expect(response.status).toBe(200);
      leaving.abort();
      await expect.poll(async () => (await ask(gateway, chat!, false)).status).toBe(200);
    }
  });
});

test('a team’s rate is shared by its keys', async () => {
  const gateway = await openGateway({
    config: `${accounts('team: t', 'teams: [{ name: t, balance: 100, rpm: 3, members: [{ user: u@example.com, role: member }] }]')}
  - { name: o, user: u@example.com, secret: ${other}, team: t }`,
  });
  expect(await statuses(gateway, 2)).toEqual([200, 200]);
  const ofOther = { authorization: `Bearer ${other}` };
  expect(await statuses(gateway, 3, ofOther)).toEqual([200, 429, 429]);
});

test('a key with a burst of token counts is slowed down eventually', async () => {
  const gateway = await openGateway({ config: accounts('rpm: 1') });
  const list = () => fetch(`${gateway.url}/v1/models`, { headers: schemes.bearer });
  const seen: number[] = [];
  for (let turn = 0; turn < 620; turn += 20) {
    const responses = await Promise.all(Array.from({ length: 20 }, list));
    seen.push(...responses.map(({ status }) => status));
    await Promise.all(responses.map((response) => response.arrayBuffer()));
  }
  expect(seen.filter((status) => status === 200)).toHaveLength(600);
  expect(seen.filter((status) => status === 429)).toHaveLength(20);
});

describe('L-03 after its Retry-After the next request is admitted', () => {
  test('of a slot', async () => {
    const gateway = await openGateway({ config: accounts('max_concurrency: 1') });
    const busy = ask(gateway, chat!, true, 'demo-chat', { 'x-simulator-fault': 'events=5;gap=60' });
    await wait(100);
    const refused = await ask(gateway, chat!, false);
    expect(refused.status).toBe(429);
    await wait(Number(refused.headers.get('retry-after')) * 1_000);
    expect((await ask(gateway, chat!, false)).status).toBe(200);
    expect((await busy).status).toBe(200);
  });

  test.each([
    ['rpm', 60],
    ['rph', 3_600],
  ])('of %s, in every protocol', async (setting, window) => {
    const gateway = await openGateway({ config: accounts(`${setting}: 1`) });
    const skip = jumpingClock();
    expect((await ask(gateway, chat!, false)).status).toBe(200);
    const list = { headers: schemes.bearer };
    for (const protocol of textProtocols) {
      const refused = await ask(gateway, protocol, false);
      expect(refused.status).toBe(429);
      const seconds = refused.headers.get('retry-after') ?? '';
      expect(seconds).toMatch(/^[1-9]\d*$/);
      const milliseconds = Number(refused.headers.get('retry-after-ms'));
      expect(Number(seconds)).toBe(Math.ceil(milliseconds / 1_000));
      expect(milliseconds).toBeLessThanOrEqual(window * 1_000);
      // Not a moment earlier; the machine has that long for one request.
      skip(milliseconds - 10_000);
      // After an hour without a look at the database no key is good until the next look.
      await expect
        .poll(async () => (await fetch(`${gateway.url}/v1/models`, list)).status)
        .toBe(200);
      expect((await ask(gateway, protocol, false)).status).toBe(429);
      skip(10_000);
      expect((await ask(gateway, protocol, false)).status).toBe(200);
    }
  });
});
