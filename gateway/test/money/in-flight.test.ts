import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '#config/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { jumpingClock, rawPost, rowOf, sendRaw, until } from '../behaviour/support.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import {
  answerWith,
  startOwnUpstream,
  usageAt,
  type OwnUpstream,
} from '../support/own-upstream.ts';
import { keyQuota, nanoOf } from './books.ts';

/* B-21, R-40: what changes while a response is on its way. It ends as it began; the next request meets the change. */

interface World {
  readonly price?: string;
  readonly multiplier?: number;
  readonly models?: string;
  /** `TEAM` in it stands for the team. */
  readonly key?: string;
  readonly user?: string;
  readonly members?: readonly string[];
}

const cheap = '{ input: 1000, output: 2000 }';

/** Accounts of one test, which nobody has spent anything of. */
interface Accounts {
  readonly at: number;
  readonly secret: string;
}
let made = 0;
function newAccounts(): Accounts {
  made += 1;
  return { at: made, secret: `${testKey}-${made}` };
}

const userOf = (name: string, at: number): string => `${name}-${at}@example.com`;
const memberOf = (name: string, at: number): string =>
  `{ user: ${userOf(name, at)}, role: member }`;

function worldOf(world: World, { at, secret }: Accounts): string {
  const { price = cheap, multiplier = 1, models = '[{ name: m, upstream: demo-chat }]' } = world;
  const { key = '', user = 'balance: 1000', members = ['bob', 'tester'] } = world;
  const team = members.map((name) => memberOf(name, at)).join(', ');
  return `
groups: [{ name: default, price_multiplier: ${multiplier} }]
channels:
  - { name: own, provider: simulator, base_url: "${upstream.url}", protocols: [chat], models: ${models} }
models: [{ id: m, type: chat, context_window: 4000, max_output_tokens: 1000, price: ${price} }]
users: [{ email: ${userOf('tester', at)}, ${user} }, { email: ${userOf('bob', at)} }]
teams: [{ name: t${at}, balance: 1000, members: [${team}] }]
keys:
  - { name: test${at}, user: ${userOf('tester', at)}, secret: ${secret}${key.replace('TEAM', `t${at}`)} }
`;
}

let upstream: OwnUpstream;
let gateway: TestGateway;
/** Ends the responses that the upstream holds back. */
let finish: (() => void)[] = [];
const answer = answerWith(usageAt('/v1/chat/completions', 10, 40));

beforeAll(async () => {
  upstream = await startOwnUpstream();
  gateway = await startTestGateway({ config: worldOf({}, newAccounts()) });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
  const [first] = gateway.errors;
  if (first !== undefined) throw new Error('the gateway logged an error', { cause: first });
});

/** Streams wait for `finish` after their first event. */
function holdStreams(): void {
  finish = [];
  upstream.clear();
  upstream.answer = (asked, response) => {
    if (asked.body['stream'] !== true) {
      answer(asked, response);
      return;
    }
    const chunk = {
      id: 'c',
      choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }],
    };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    const rest = { writeHead: () => rest, end: (text: string) => response.end(text) };
    finish.push(() => answer(asked, rest as unknown as ServerResponse));
  };
}

const body = { model: 'm', messages: [{ role: 'user', content: 'hello' }] };
const ask = ({ secret }: Accounts, more: object = {}) =>
  gateway.post('/v1/chat/completions', { ...body, ...more }, { authorization: `Bearer ${secret}` });

/** Starts a stream in the first world, and lets it end in the second. */
async function acrossChange(first: World, second: World) {
  const accounts = newAccounts();
  await change(first, accounts);
  holdStreams();
  const stream = await ask(accounts, { stream: true });
  expect(stream.status).toBe(200);
  await change(second, accounts);
  const meanwhile = await ask(accounts);
  const refusal = meanwhile.status === 200 ? null : await messageOf(meanwhile);
  expect(finish).toHaveLength(1);
  finish[0]?.();
  expect(await stream.text()).toMatch(/^data: \[DONE\]$/m);
  onTestFinished(async () => {
    const differences: Difference[] = [];
    await gateway.usage();
    await reconcile(gateway.app.database, {}, (each) => void differences.push(each));
    expect(differences).toEqual([]);
  });
  const row = await rowOf(gateway, stream.headers.get('x-request-id') ?? '');
  const next = meanwhile.headers.get('x-request-id') ?? '';
  return { row, status: meanwhile.status, refusal, next };
}

async function change(world: World, accounts: Accounts): Promise<void> {
  const { dataDir } = gateway.app;
  const text = `
server: { port: 0 }
storage: { url: "sqlite:${dataDir}/test.db", data_dir: "${dataDir}" }
${worldOf(world, accounts)}`;
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
  const { row, status, next } = await acrossChange({}, after);
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
    { key: ', team: TEAM' },
    { key: ', team: TEAM', members: ['bob'] },
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
  const accounts = newAccounts();
  await change({}, accounts);
  upstream.clear();
  const request = rawPost('/v1/chat/completions', body).replace(testKey, accounts.secret);
  const client = await sendRaw(gateway.url, request.slice(0, -10));
  // Its head has been let in, and that is a while ago.
  await until(async () => (await ask(accounts)).status === 200, 'another request is answered');
  const answered = upstream.asked.length;
  jumpingClock()(1_100);
  await change(after, accounts);
  client.socket.write(request.slice(-10));
  await until(() => client.received().includes('}}'), 'the response');
  expect(client.received()).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(client.received()).toMatch(message);
  expect(upstream.asked).toHaveLength(answered);
});

test('B-21 a raised quota admits the next request while the first one holds all of the old', async () => {
  const { status, row } = await acrossChange({ key: ', quota: 0.5' }, { key: ', quota: 100' });
  expect(status).toBe(200);
  expect(row.outcome).toBe('completed');
});

test('a removed member is admitted again when they return', async () => {
  const accounts = newAccounts();
  const key = ', team: TEAM';
  holdStreams();
  await change({ key }, accounts);
  expect((await ask(accounts)).status).toBe(200);
  await change({ key, members: ['bob'] }, accounts);
  expect((await ask(accounts)).status).toBe(401);
  await change({ key }, accounts);
  expect((await ask(accounts)).status).toBe(200);
  // A team that names nobody leaves it to whoever makes keys.
  await change({ key, members: [] }, accounts);
  expect((await ask(accounts)).status).toBe(200);
});

test('B-10 requests while a balance runs out: every admitted one is covered, to the nano-USD', async () => {
  const accounts = newAccounts();
  holdStreams();
  // Enough for some twenty.
  await change({ user: 'balance: 2' }, accounts);
  const seen = { ok: 0, unpaid: 0 };
  const worker = async (): Promise<void> => {
    for (let round = 0; round < 10; round += 1) {
      const response = await ask(accounts, { max_tokens: 40 });
      const text = await response.text();
      if (response.status === 200) seen.ok += 1;
      else if (response.status === 402 && text.includes('insufficient balance')) seen.unpaid += 1;
      else throw new Error(text);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  const rowsOf = async () =>
    (await gateway.usage()).filter(({ user }) => user === userOf('tester', accounts.at));
  await until(async () => (await rowsOf()).length === seen.ok + seen.unpaid, 'all rows');
  const rows = await rowsOf();
  const spent = rows.reduce((sum, { cost }) => sum + nanoOf(cost), 0n);
  expect(seen.unpaid).toBeGreaterThan(0);
  const { overshoot } = await gateway.app.database.kysely
    .selectFrom('usage')
    .select(({ fn }) => fn.max('overshoot').as('overshoot'))
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .executeTakeFirstOrThrow();
  // P-02: one at a time is given all that is left, and only that one may cost more than there is.
  expect(spent).toBeLessThanOrEqual(2_000_000_000n + BigInt(overshoot ?? 0));
  expect(spent).toBeGreaterThan(1_990_000_000n);
});

test('P-05 crumbs: a quota held and freed in turn does not cover many at once', async () => {
  const accounts = newAccounts();
  await change({ key: ', quota: 1' }, accounts);
  upstream.clear();
  const held: (() => void)[] = [];
  upstream.answer = (asked, response) => void held.push(() => answer(asked, response));
  const long: Promise<Response>[] = [];
  const endLong: (() => void)[] = [];
  for (let round = 0; round < 5; round += 1) {
    const { used, held: heldNow } = await keyQuota(gateway, accounts.secret);
    const left = 1_000_000_000n - used - heldNow;
    // Its input is held at less than 0.05: it leaves a crumb, and soon all the rest.
    const large = ask(accounts, { max_tokens: Number((left - 50_000_000n) / 2_000_000n) });
    await until(() => held.length === 1, 'the large one is under way');
    const endLarge = held.pop();
    let isOver = false;
    const one = ask(accounts, { max_tokens: 900 });
    long.push(one);
    void one.then(() => (isOver = true));
    await until(() => isOver || held.length === 1, 'the long one is under way, or refused');
    endLong.push(...held.splice(0));
    endLarge?.();
    expect((await large).status).toBe(200);
  }
  for (const end of endLong) end();
  const statuses = (await Promise.all(long)).map(({ status }) => status);
  expect(statuses).toEqual([200, 402, 402, 402, 402]);
});
