import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../behaviour/support.ts';
import { startInFolder } from '../support/start-in-folder.ts';
import { workplaceIn } from './support.ts';

/*
 * S-01: what the command line says of a key holds on the gateway that runs meanwhile, in the same words however the key
 * is presented.
 */

const all = 'protocols: [chat, responses, messages, generate-content]';
const declaredSecret = 'sk-declared-0123456789abcdefghijklmnopqrstuv';

const fileOf = (simulator: string, enabled: boolean): string => `
server: { port: 0, drain_timeout: 1s }
groups: [{ name: vip }]
channels:
  - { name: sim, provider: simulator, base_url: ${simulator}, ${all}, models: [{ name: open, upstream: demo-chat }, { name: other, upstream: demo-chat }] }
  - { name: vip, provider: simulator, base_url: ${simulator}, ${all}, groups: [vip], models: [{ name: dear, upstream: demo-chat }] }
  - { name: chat-only, provider: simulator, base_url: ${simulator}, protocols: [chat], models: [{ name: converted, upstream: demo-chat }] }
models:
  - { id: open, type: chat, max_output_tokens: 1000, price: &price { input: 1, output: 2 } }
  - { id: other, type: chat, max_output_tokens: 1000, price: *price }
  - { id: dear, type: chat, max_output_tokens: 1000, price: *price }
  - { id: converted, type: chat, max_output_tokens: 1000, price: *price }
users: [{ email: ada@example.com, balance: 100 }]
teams: [{ name: poor }]
keys: [{ name: declared, user: ada@example.com, secret: ${declaredSecret}, enabled: ${enabled} }]
`;

const simulator = await startSimulator();
const folder = mkdtempSync(join(tmpdir(), 'sluice-keys-'));
afterAll(async () => {
  await simulator.close();
  rmSync(folder, { recursive: true });
});
const { sluice, json, write } = workplaceIn(folder, fileOf(simulator.url, true));
const gateway = await startInFolder(folder, { atEnd: afterAll });
const { url } = gateway;

/** The secret of a new key. */
async function create(name: string, ...options: readonly string[]): Promise<string> {
  const mandatory = ['--user', 'ada@example.com', '--name', name];
  return secretIn(await json('key', 'create', ...mandatory, ...options));
}

function secretIn(printed: unknown): string {
  return (printed as { key: string }).key;
}

/** Which keys are enabled, by what the command line says. */
async function listed(): Promise<Readonly<Record<string, boolean>>> {
  const keys = (await json('key', 'list', '--user', 'ada@example.com')) as {
    readonly name: string;
    readonly enabled: boolean;
  }[];
  return Object.fromEntries(keys.map(({ name, enabled }) => [name, enabled]));
}

interface Seen {
  readonly status: number;
  /** The beginning of the message; advice follows it. Null: no error. */
  readonly error: string | null;
}

type Scheme = (secret: string) => { readonly query?: string; readonly headers?: object };

const schemes: readonly Scheme[] = [
  (secret) => ({ headers: { authorization: `Bearer ${secret}` } }),
  (secret) => ({ headers: { 'x-api-key': secret } }),
  (secret) => ({ headers: { 'x-goog-api-key': secret } }),
  (secret) => ({ headers: { 'x-vendorc-api-key': secret } }),
  (secret) => ({ query: `key=${secret}` }),
];

/** Generate-content, because it alone is asked by every scheme. */
function post(url: string, secret: string, model: string, scheme: Scheme, more: object = {}) {
  const { query = '', headers = {} } = scheme(secret);
  return fetch(`${url}/v1beta/models/${model}:generateContent?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }], ...more }),
  });
}

async function seenIn(response: Response): Promise<Seen> {
  const { error } = (await response.json()) as { error?: { message: string } };
  return { status: response.status, error: error?.message.split(/[,:.]/)[0] ?? null };
}

/** The outcome for every scheme; fails if they differ. */
async function everySees(url: string, secret: string, model = 'open', more = {}): Promise<Seen> {
  const seen: Seen[] = [];
  for (const scheme of schemes) {
    seen.push(await seenIn(await post(url, secret, model, scheme, more)));
  }
  for (const each of seen) expect(each).toEqual(seen[0]);
  return seen[0]!;
}

const good: Seen = { status: 200, error: null };
const unknown: Seen = { status: 401, error: 'invalid api key' };
const tooOften: Seen = { status: 429, error: 'rate limit exceeded' };
const fenced: Seen = { status: 403, error: 'ip address is not allowed for this API key' };

test('every setting of a new key takes effect at once', { timeout: 60_000 }, async () => {
  const firstScheme = schemes[0]!;
  const once = async (secret: string, model = 'open') =>
    seenIn(await post(url, secret, model, firstScheme));

  const free = await create('free');
  expect(await everySees(url, free)).toEqual(good);
  expect(await everySees(url, free, 'dear')).toMatchObject({ status: 400 });
  expect(await everySees(url, free, 'converted', { generationConfig: { topK: 3 } })).toEqual(good);

  const grouped = await create('grouped', '--group', 'vip');
  expect(await everySees(url, grouped, 'dear')).toEqual(good);
  expect(await everySees(url, grouped)).toEqual({
    status: 400,
    error: "model 'open' is not available",
  });

  const listed = await create('listed', '--model', 'other', '--model', 'converted');
  expect(await everySees(url, listed, 'other')).toEqual(good);
  expect(await everySees(url, listed, 'converted')).toEqual(good);
  expect(await everySees(url, listed)).toEqual({
    status: 403,
    error: "model 'open' is not allowed for this API key",
  });

  const spent = { status: 402, error: 'key quota limit exceeded' };
  expect(await everySees(url, await create('nothing', '--quota', '0'))).toEqual(spent);
  const crumb = await create('crumb', '--quota', '0.000001');
  expect(await once(crumb)).toEqual(good);
  await until(async () => (await once(crumb)).status === 402, 'the quota is used up');
  expect(await everySees(url, crumb)).toEqual(spent);

  expect(await everySees(url, await create('old', '--expires-at', '2020-01-01T00:00:00Z'))).toEqual(
    unknown,
  );
  expect(
    await everySees(url, await create('young', '--expires-at', '2999-01-01T00:00:00Z')),
  ).toEqual(good);

  const away = ['--ip', '203.0.113.0/24', '--ip', '2001:db8::/32'];
  expect(await everySees(url, await create('away', ...away))).toEqual(fenced);
  expect(await everySees(url, await create('home', ...away, '--ip', '127.0.0.0/8'))).toEqual(good);

  for (const [name, option, retry] of [
    ['minute', '--rpm', null],
    ['hour', '--rph', 'false'],
  ] as const) {
    const rated = await create(name, option, '2');
    expect([await once(rated), await once(rated)]).toEqual([good, good]);
    expect(await everySees(url, rated)).toEqual(tooOften);
    const { headers } = await post(url, rated, 'open', firstScheme);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(headers.get('x-should-retry')).toBe(retry);
  }

  const single = await create('single', '--max-concurrency', '1');
  simulator.clear();
  const running = fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${single}`,
      'content-type': 'application/json',
      'x-simulator-fault': 'delay=1500',
    },
    body: JSON.stringify({ model: 'open', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await until(() => simulator.requests().length === 1, 'the one request is under way');
  expect(await everySees(url, single)).toEqual(tooOften);
  expect((await running).status).toBe(200);
  expect(await everySees(url, single)).toEqual(good);

  const strict = await create('strict', '--conversion', 'strict');
  expect(await everySees(url, strict, 'converted')).toEqual(good);
  expect(
    await everySees(url, strict, 'converted', { generationConfig: { topK: 3 } }),
  ).toMatchObject({ status: 400 });

  // The team's balance counts, which is nothing; the user's does not.
  expect(await everySees(url, await create('team', '--team', 'poor'))).toEqual({
    status: 402,
    error: 'insufficient balance',
  });
  await sluice('team', 'credit', 'poor', '5', '--reason', 'invoice 7');

  // Under its own name, with a row for each request that had a model.
  const { data } = (await json('usage', '--key', 'listed')) as { data: { outcome: string }[] };
  expect(data.filter(({ outcome }) => outcome === 'completed')).toHaveLength(2 * schemes.length);
  expect(data.filter(({ outcome }) => outcome === 'refused')).toHaveLength(schemes.length);
});

describe('everything that ends a secret takes effect within seconds', () => {
  test(
    'rotation with and without a grace period, and revocation',
    { timeout: 30_000 },
    async () => {
      const rotate = async (...options: readonly string[]) =>
        secretIn(await json('key', 'rotate', 'ci', ...options));
      const becomes = (secret: string, expected: Seen) =>
        expect.poll(() => everySees(url, secret), { timeout: 10_000 }).toEqual(expected);

      const first = await create('ci', '--model', 'open');
      expect(await everySees(url, first)).toEqual(good);
      const second = await rotate();
      expect(await everySees(url, second)).toEqual(good);
      expect(await everySees(url, first)).toEqual(good);
      // The one before the last has no grace any more, and the new one the settings of the first.
      const third = await rotate('--grace', '0s');
      expect(await everySees(url, third)).toEqual(good);
      expect(await everySees(url, third, 'other')).toMatchObject({ status: 403 });
      await becomes(first, unknown);
      await becomes(second, unknown);

      const fourth = await rotate('--grace', '1h');
      await sluice('key', 'revoke', 'ci');
      await becomes(third, unknown);
      await becomes(fourth, unknown);
      expect(await listed()).toMatchObject({ ci: false, declared: true });
    },
  );

  test('a key disabled and enabled again by the file', { timeout: 30_000 }, async () => {
    for (const [enabled, expected] of [
      [false, unknown],
      [true, good],
    ] as const) {
      write(fileOf(simulator.url, enabled));
      await gateway.reload();
      expect(await everySees(url, declaredSecret)).toEqual(expected);
      expect(await listed()).toMatchObject({ declared: enabled });
    }
  });
});
