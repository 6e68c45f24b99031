import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '#config/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { openGateway, rawPost, rowOf, sendRaw, until } from '../behaviour/support.ts';
import { testKey, type TestGateway } from '../support/gateway.ts';
import { keyQuota, nanoOf } from './books.ts';

/* B-21, R-40: what changes while a response is on its way. It ends as it began; the next request meets the change. */

interface World {
  readonly price?: string;
  readonly multiplier?: number;
  readonly models?: string;
  readonly key?: string;
  readonly user?: string;
  readonly members?: string;
}

const cheap = '{ input: 1000, output: 2000 }';
const bob = '{ user: bob@example.com, role: member }';
const tester = '{ user: tester@example.com, role: member }';

function worldOf(world: World): string {
  const { price = cheap, multiplier = 1, models = '[{ name: m, upstream: demo-chat }]' } = world;
  const { key = '', user = 'balance: 1000', members = `${bob}, ${tester}` } = world;
  return `
groups: [{ name: default, price_multiplier: ${multiplier} }]
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: ${models} }
models: [{ id: m, type: chat, context_window: 4000, max_output_tokens: 1000, price: ${price} }]
users: [{ email: tester@example.com, ${user} }, { email: bob@example.com }]
teams: [{ name: t, balance: 1000, members: [${members}] }]
keys:
  - { name: test, user: tester@example.com, secret: ${testKey}${key} }
`;
}

const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
const ask = (gateway: TestGateway) => gateway.post('/v1/chat/completions', body);

/** Starts a stream in the first world, and lets it end in the second. */
async function acrossChange(first: World, second: World) {
  const gateway = await openGateway({ config: worldOf(first) });
  const stream = await gateway.post(
    '/v1/chat/completions',
    { ...body, stream: true },
    { 'x-simulator-fault': 'gap=100;events=20' },
  );
  expect(stream.status).toBe(200);
  await change(gateway, second);
  const meanwhile = await ask(gateway);
  const refusal = meanwhile.status === 200 ? null : await messageOf(meanwhile);
  expect(await stream.text()).toMatch(/^data: \[DONE\]$/m);
  onTestFinished(async () => {
    const differences: Difference[] = [];
    await gateway.usage();
    await reconcile(gateway.app.database, {}, (each) => void differences.push(each));
    expect(differences).toEqual([]);
  });
  const row = await rowOf(gateway, stream.headers.get('x-request-id') ?? '');
  const next = meanwhile.headers.get('x-request-id') ?? '';
  return { gateway, row, status: meanwhile.status, refusal, next };
}

async function change(gateway: TestGateway, world: World): Promise<void> {
  const { dataDir } = gateway.app;
  const text = `
server: { port: 0 }
storage: { url: "sqlite:${dataDir}/test.db", data_dir: "${dataDir}" }
${worldOf(world).replaceAll('SIMULATOR', gateway.simulator.url)}`;
  const about = { file: 'test.yaml', environment: {}, bundledModels: ['demo-chat'] };
  await gateway.app.reload(parseConfig(text, about));
  await gateway.app.refresh();
}

async function messageOf(response: Response): Promise<string> {
  const { error } = (await response.json()) as { error: { message: string } };
  return error.message;
}

const plain = (tokens: { input: number; output: number }): bigint =>
  BigInt(tokens.input) * 1_000_000n + BigInt(tokens.output) * 2_000_000n;

test('B-24 price and multiplier are those of the admission', async () => {
  const after = { price: '{ input: 9000, output: 9000 }', multiplier: 3 };
  const { gateway, row, status, next } = await acrossChange({}, after);
  expect(nanoOf(row.cost)).toBe(plain(row.tokens));
  expect(status).toBe(200);
  const { tokens, cost } = await rowOf(gateway, next);
  expect(nanoOf(cost)).toBe(BigInt(tokens.input + tokens.output) * 27_000_000n);
});

test('a price of zero stays zero, and a price that becomes zero is still paid', async () => {
  const free = { price: '{ input: 0, output: 0 }' };
  expect((await acrossChange(free, {})).row.cost).toBeNull();
  const { row } = await acrossChange({}, free);
  expect(nanoOf(row.cost)).toBe(plain(row.tokens));
});

describe.each<readonly [string, World, World, number, RegExp]>([
  ['the model is removed', {}, { models: '[demo-chat]' }, 400, /^model 'm' is not available/],
  ['the key is disabled', {}, { key: ', enabled: false' }, 401, /^invalid api key/],
  ['the key expires', {}, { key: ', expires_at: 2020-01-01T00:00:00Z' }, 401, /^invalid api key/],
  ['the user is disabled', {}, { user: 'balance: 1000, enabled: false' }, 401, /^invalid api key/],
  ['addresses are fenced', {}, { key: ', ips: [203.0.113.0/24]' }, 403, /^ip address/],
  ['the quota falls below what is spent', {}, { key: ', quota: 0' }, 402, /^key quota limit/],
  ['the user quota does', {}, { user: 'balance: 1000, quota: 0' }, 402, /^quota limit exceeded/],
  [
    'the quota falls to what is held',
    { key: ', quota: 100' },
    { key: ', quota: 1' },
    402,
    /^key quota limit/,
  ],
  [
    'the user leaves the team',
    { key: ', team: t' },
    { key: ', team: t', members: bob },
    401,
    /^invalid api key/,
  ],
])('%s', (_name, first, second, status, message) => {
  test('the stream ends and is paid for; the next request is refused', async () => {
    const seen = await acrossChange(first, second);
    expect([seen.status, seen.refusal]).toEqual([status, expect.stringMatching(message)]);
    expect(seen.row).toMatchObject({ outcome: 'completed' });
    expect(nanoOf(seen.row.cost)).toBe(plain(seen.row.tokens));
  });
});

test.each<readonly [string, World, number, RegExp]>([
  ['the key is disabled', { key: ', enabled: false' }, 401, /invalid api key/],
  ['the user is disabled', { user: 'balance: 1000, enabled: false' }, 401, /invalid api key/],
  ['addresses are fenced', { key: ', ips: [203.0.113.0/24]' }, 403, /ip address/],
  ['the quota falls', { key: ', quota: 0' }, 402, /key quota limit/],
])('a slow body: %s before its end', async (_name, after, status, message) => {
  const gateway = await openGateway({ config: worldOf({}) });
  const request = rawPost('/v1/chat/completions', body);
  const client = await sendRaw(gateway.url, request.slice(0, -10));
  await wait(1_100);
  await change(gateway, after);
  client.socket.write(request.slice(-10));
  await until(() => client.received().includes('}}'), 'the response');
  expect(client.received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(client.received()).toMatch(message);
  expect(gateway.simulator.requests()).toEqual([]);
});

test('B-21 a raised quota admits the next request while the first one holds all of the old', async () => {
  const { status, row } = await acrossChange({ key: ', quota: 0.5' }, { key: ', quota: 100' });
  expect(status).toBe(200);
  expect(row.outcome).toBe('completed');
});

test('a removed member is admitted again when they return', async () => {
  const gateway = await openGateway({ config: worldOf({ key: ', team: t' }) });
  expect((await ask(gateway)).status).toBe(200);
  await change(gateway, { key: ', team: t', members: bob });
  expect((await ask(gateway)).status).toBe(401);
  await change(gateway, { key: ', team: t' });
  expect((await ask(gateway)).status).toBe(200);
  // A team that names nobody leaves it to whoever makes keys.
  await change(gateway, { key: ', team: t', members: '' });
  expect((await ask(gateway)).status).toBe(200);
});

test('B-10 requests while a balance runs out: every admitted one is covered, to the nano-USD', async () => {
  const gateway = await openGateway({ config: worldOf({ user: 'balance: 5' }) });
  const seen = { ok: 0, unpaid: 0 };
  const worker = async (): Promise<void> => {
    for (let round = 0; round < 60; round += 1) {
      const response = await gateway.post('/v1/chat/completions', { ...body, max_tokens: 40 });
      const text = await response.text();
      if (response.status === 200) seen.ok += 1;
      else if (response.status === 402 && text.includes('insufficient balance')) seen.unpaid += 1;
      else throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  await until(async () => (await gateway.usage()).length === seen.ok + seen.unpaid, 'all rows');
  const spent = (await gateway.usage()).reduce((sum, { cost }) => sum + nanoOf(cost), 0n);
  expect(seen.unpaid).toBeGreaterThan(0);
  const { overshoot } = await gateway.app.database.kysely
    .selectFrom('usage')
    .select(({ fn }) => fn.max('overshoot').as('overshoot'))
    .executeTakeFirstOrThrow();
  // P-02: one at a time is given all that is left, and only that one may cost more than there is.
  expect(spent).toBeLessThanOrEqual(5_000_000_000n + BigInt(overshoot ?? 0));
  expect(spent).toBeGreaterThan(4_990_000_000n);
});

test('P-05 crumbs: a quota held and freed in turn does not cover many at once', async () => {
  const gateway = await openGateway({ config: worldOf({ key: ', quota: 1' }) });
  const send = (max_tokens: number, fault: string) => {
    const asked = gateway.simulator.requests().length;
    const response = gateway.post(
      '/v1/chat/completions',
      { ...body, max_tokens },
      { 'x-simulator-fault': fault },
    );
    return { response, isAsked: () => gateway.simulator.requests().length > asked };
  };
  const long: Promise<Response>[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { used, held } = await keyQuota(gateway, testKey);
    const left = 1_000_000_000n - used - held;
    // Its input is held at less than 0.05: it leaves a crumb, and soon all the rest.
    const large = send(Number((left - 50_000_000n) / 2_000_000n), 'delay=100');
    await until(large.isAsked, 'the large one is under way');
    long.push(send(900, 'delay=5000').response);
    expect((await large.response).status).toBe(200);
  }
  const statuses = (await Promise.all(long)).map(({ status }) => status);
  expect(statuses).toEqual([200, 402, 402, 402, 402]);
});
