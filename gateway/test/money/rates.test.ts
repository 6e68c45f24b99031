import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ask as askGateway, jumpingClock, shareGateway, until } from '../behaviour/support.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';

/** Of each of these every test uses its own, because rates are counted by key. */
const settings = {
  'no-minute': 'rpm: 0',
  'no-hour': 'rph: 0',
  'no-slot': 'max_concurrency: 0',
  'no-minute-one-slot': 'rpm: 0, max_concurrency: 1',
  'rpm-at-once': 'rpm: 3',
  'rph-at-once': 'rph: 3',
  'rpm-free': 'rpm: 3',
  'rph-free': 'rph: 3',
  'broken-body': 'rpm: 2',
  elsewhere: 'rpm: 1, ips: ["10.0.0.0/8"]',
  'two-slots': 'max_concurrency: 2',
  'one-slot-refused': 'max_concurrency: 1',
  'one-slot-leaving': 'max_concurrency: 1',
  'team-first': 'team: t',
  'team-second': 'team: t',
  burst: 'rpm: 1',
  'one-slot-again': 'max_concurrency: 1',
  'rpm-again': 'rpm: 1',
  'rph-again': 'rph: 1',
} as const;
type KeyName = keyof typeof settings;

const secretOf = (key: KeyName) => `sk-${key}-0123456789abcdefghijklmnopqrstuv`;
const bearer = (key: KeyName) => ({ authorization: `Bearer ${secretOf(key)}` });
// First, so that the clock goes back only when the gateway has closed.
const skip = jumpingClock(afterAll);
const shared = shareGateway({
  config: `
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat, responses, messages, generate-content], models: [demo-chat] }
users: [{ email: u@example.com, balance: 100 }]
teams: [{ name: t, balance: 100, rpm: 3, members: [{ user: u@example.com, role: member }] }]
keys:
${Object.entries(settings)
  .map(
    ([name, set]) =>
      `  - { name: ${name}, user: u@example.com, secret: ${secretOf(name as KeyName)}, ${set} }`,
  )
  .join('\n')}
`,
});
beforeEach(() => shared.gateway.simulator.clear());

const chat = textProtocols[0]!;
const schemes = (key: KeyName) => [
  bearer(key),
  { 'x-api-key': secretOf(key), authorization: '' },
  { 'x-goog-api-key': secretOf(key), authorization: '' },
];

function ask(key: KeyName, protocol: TextProtocol, stream: boolean, headers = {}) {
  return askGateway(shared.gateway, protocol, stream, 'demo-chat', { ...bearer(key), ...headers });
}

async function statuses(key: KeyName, count: number, headers = {}): Promise<number[]> {
  const responses = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      ask(key, textProtocols[index % textProtocols.length]!, index % 2 === 0, headers),
    ),
  );
  return responses.map(({ status }) => status).toSorted((a, b) => a - b);
}

test.each(['no-minute', 'no-hour', 'no-slot', 'no-minute-one-slot'] as const)(
  'a limit of zero (%s) admits nobody, and no client is asked to wait',
  async (key) => {
    for (const protocol of textProtocols) {
      const response = await ask(key, protocol, false);
      expect(response.status).toBe(429);
      expect(protocol.errorMessage(JSON.parse(response.text))).toBe('rate limit exceeded');
      expect(response.headers.get('retry-after')).toBeNull();
      expect(response.headers.get('retry-after-ms')).toBeNull();
      expect(response.headers.get('x-should-retry')).toBe('false');
    }
    expect(shared.gateway.simulator.requests()).toHaveLength(0);
  },
);

describe.each([
  ['rpm', 60],
  ['rph', 3_600],
] as const)('%s: 3', (rate, window) => {
  test('exactly the limit at once, under every scheme and in every protocol', async () => {
    const key = `${rate}-at-once` as const;
    expect(await statuses(key, 8)).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    for (const headers of schemes(key)) {
      for (const protocol of textProtocols) {
        const response = await ask(key, protocol, true, headers);
        expect(response.status).toBe(429);
        expect(protocol.errorMessage(JSON.parse(response.text))).toMatch(/^rate limit exceeded/);
        const after = Number(response.headers.get('retry-after'));
        expect(after).toBeGreaterThan(window - 30);
        expect(after).toBeLessThanOrEqual(window);
        expect(response.headers.get('x-should-retry')).toBe(after > 60 ? 'false' : null);
      }
    }
    expect(shared.gateway.simulator.requests()).toHaveLength(3);
  });

  test('free requests are not counted: token counts and lists', async () => {
    const key = `${rate}-free` as const;
    const { gateway } = shared;
    const count = { model: 'demo-chat', messages: [{ role: 'user', content: 'hi' }] };
    const contents = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
    for (let turn = 0; turn < 5; turn += 1) {
      const responses = await Promise.all([
        gateway.post('/v1/messages/count_tokens', count, bearer(key)),
        gateway.post('/v1beta/models/demo-chat:countTokens', contents, bearer(key)),
        fetch(`${gateway.url}/v1/models`, { headers: bearer(key) }),
      ]);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    }
    expect(await statuses(key, 4)).toEqual([200, 200, 200, 429]);
  });
});

test('a later refusal keeps the count: a broken body was a request too', async () => {
  const key = 'broken-body';
  const path = chat.path('demo-chat', false);
  const broken = await shared.gateway.post(path, '{', bearer(key));
  expect(broken.status).toBe(400);
  expect(await statuses(key, 2)).toEqual([200, 429]);
});

test('a refused request is not counted', async () => {
  expect(await statuses('elsewhere', 2)).toEqual([403, 403]);
});

describe('concurrency', () => {
  test('covers requests in flight, streams to their last byte', async () => {
    const key = 'two-slots';
    const slow = { 'x-simulator-fault': 'events=10;gap=40' };
    expect(await statuses(key, 5, slow)).toEqual([200, 200, 429, 429, 429]);
    expect(await statuses(key, 2)).toEqual([200, 200]);
    const { simulator } = shared.gateway;
    simulator.clear();
    const running = statuses(key, 2, { 'x-simulator-fault': 'events=40;gap=40' });
    await until(() => simulator.requests().length === 2, 'both are under way');
    const response = await ask(key, chat, false);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1']);
    await running;
  });

  test('releases the slot of a request that is refused later', async () => {
    const key = 'one-slot-refused';
    const { post } = shared.gateway;
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
        const response = await post(path, refused, bearer(key));
        expect([refused, response.status, await response.text()]).toEqual([
          refused,
          400,
          expect.not.stringContaining('rate limit'),
        ]);
      }
      const unknown = await post(
        protocol.path('nobody-has-it', false),
        { ...body, ...('model' in body && { model: 'nobody-has-it' }) },
        bearer(key),
      );
      expect(unknown.status).toBe(400);
      await unknown.text();
      expect((await ask(key, protocol, true)).status).toBe(200);
    }
    expect(shared.gateway.simulator.requests()).toHaveLength(textProtocols.length);
  });

  test('releases the slot of a client that disconnects', async () => {
    const key = 'one-slot-leaving';
    for (let turn = 0; turn < 3; turn += 1) {
      const leaving = new AbortController();
      const response = await fetch(shared.gateway.url + chat.path('demo-chat', true), {
        method: 'POST',
        headers: {
          ...bearer(key),
          'content-type': 'application/json',
          'x-simulator-fault': 'events=100;gap=50',
        },
        body: JSON.stringify(chat.body('demo-chat', true)),
        signal: leaving.signal,
      });
      expect(response.status).toBe(200);
      leaving.abort();
      await expect.poll(async () => (await ask(key, chat, false)).status).toBe(200);
    }
  });
});

test('a team’s rate is shared by its keys', async () => {
  expect(await statuses('team-first', 2)).toEqual([200, 200]);
  expect(await statuses('team-second', 3)).toEqual([200, 429, 429]);
});

test('a key with a burst of token counts is slowed down eventually', async () => {
  const list = () => fetch(`${shared.gateway.url}/v1/models`, { headers: bearer('burst') });
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
    const key = 'one-slot-again';
    const { simulator } = shared.gateway;
    const busy = ask(key, chat, true, { 'x-simulator-fault': 'events=5;gap=60' });
    await until(() => simulator.requests().length === 1, 'the one request is under way');
    const refused = await ask(key, chat, false);
    expect(refused.status).toBe(429);
    await wait(Number(refused.headers.get('retry-after')) * 1_000);
    expect((await ask(key, chat, false)).status).toBe(200);
    expect((await busy).status).toBe(200);
  });

  test.each([
    ['rpm', 60],
    ['rph', 3_600],
  ] as const)('of %s, in every protocol', async (rate, window) => {
    const key = `${rate}-again` as const;
    const { url } = shared.gateway;
    expect((await ask(key, chat, false)).status).toBe(200);
    const list = { headers: bearer(key) };
    for (const protocol of textProtocols) {
      const refused = await ask(key, protocol, false);
      expect(refused.status).toBe(429);
      const seconds = refused.headers.get('retry-after') ?? '';
      expect(seconds).toMatch(/^[1-9]\d*$/);
      const milliseconds = Number(refused.headers.get('retry-after-ms'));
      expect(Number(seconds)).toBe(Math.ceil(milliseconds / 1_000));
      expect(milliseconds).toBeLessThanOrEqual(window * 1_000);
      // Not a moment earlier; the machine has that long for one request.
      skip(milliseconds - 10_000);
      // After an hour without a look at the database no key is good until the next look.
      await expect.poll(async () => (await fetch(`${url}/v1/models`, list)).status).toBe(200);
      expect((await ask(key, protocol, false)).status).toBe(429);
      skip(10_000);
      expect((await ask(key, protocol, false)).status).toBe(200);
    }
  });
});
