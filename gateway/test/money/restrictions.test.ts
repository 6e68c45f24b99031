import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';

/*
 * S-01: what a key may not do, it may not do however it is presented and wherever. Every restriction of a key, its
 * user and its team, by every header, on every endpoint.
 */

const key = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuv`;

/** Where a restriction holds. */
type Reach =
  /** Everywhere that wants a key. */
  | 'everything'
  /** Where a model is asked, or would be. */
  | 'model'
  /** Where an upstream works, which costs something. */
  | 'generation';

interface Restriction {
  readonly name: string;
  readonly reach: Reach;
  /** More of the key's declaration. */
  readonly key?: string;
  /** Another user than the one with everything. */
  readonly user?: string;
  readonly team?: string;
  readonly member?: string;
  /** Other than `open`. */
  readonly model?: string;
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

const unauthenticated = {
  reach: 'everything',
  status: 401,
  type: 'authentication_error',
  message: 'invalid api key',
} as const;
const refused = { reach: 'model', status: 403, type: 'permission_error' } as const;
const unpaid = { reach: 'generation', status: 402, type: 'insufficient_balance' } as const;
const tooOften = {
  reach: 'generation',
  status: 429,
  type: 'rate_limit_error',
  message: 'rate limit exceeded',
} as const;
const overBudget = { reach: 'generation', status: 429, type: 'rate_limit_error' } as const;

const restrictions: readonly Restriction[] = [
  { name: 'expired', key: 'expires_at: 2020-01-01T00:00:00Z', ...unauthenticated },
  { name: 'disabled', key: 'enabled: false', ...unauthenticated },
  { name: 'orphan', user: 'balance: 9, enabled: false', ...unauthenticated },
  {
    name: 'fenced',
    key: 'ips: [203.0.113.0/24, "2001:db8::/32"]',
    ...refused,
    reach: 'everything',
    message: 'ip address is not allowed for this API key',
  },
  {
    name: 'listed',
    key: 'models: [other]',
    ...refused,
    message: "model 'open' is not allowed for this API key",
  },
  { name: 'asleep', model: 'asleep', ...refused, message: "model 'asleep' is not available" },
  {
    name: 'grouped',
    key: 'group: vip',
    reach: 'model',
    status: 400,
    type: 'invalid_request_error',
    message: "model 'open' is not available, please use a different model",
  },
  { name: 'quota', key: 'quota: 0', ...unpaid, message: 'key quota limit exceeded' },
  { name: 'capped', user: 'balance: 9, quota: 0', ...unpaid, message: 'quota limit exceeded' },
  { name: 'poor', user: 'balance: 0.009999999', ...unpaid, message: 'insufficient balance' },
  { name: 'rpm', key: 'rpm: 0', ...tooOften },
  { name: 'rph', key: 'rph: 0', ...tooOften },
  { name: 'slots', key: 'max_concurrency: 0', ...tooOften },
  { name: 'team-rpm', team: 'balance: 9, rpm: 0', ...tooOften },
  { name: 'team-poor', team: 'balance: 0', ...unpaid, message: 'insufficient balance' },
  {
    name: 'team-daily',
    team: 'balance: 9, budget: { daily: 0 }',
    ...overBudget,
    message: 'team daily budget exceeded',
  },
  {
    name: 'team-monthly',
    team: 'balance: 9, budget: { monthly: 0 }',
    ...overBudget,
    message: 'team monthly budget exceeded',
  },
  {
    name: 'team-total',
    team: 'balance: 9, budget: { total: 0 }',
    ...overBudget,
    message: 'team total budget exceeded',
  },
  {
    name: 'team-member',
    team: 'balance: 9',
    member: ', budget: 0',
    ...overBudget,
    message: 'member budget exceeded',
  },
];

function describeAccounts(): string {
  const users = ['{ email: tester@example.com, balance: 100 }'];
  const teams: string[] = [];
  const keys = [`{ name: free, user: tester@example.com, secret: ${key('free')} }`];
  for (const { name, key: settings, user, team, member } of restrictions) {
    const email = user === undefined ? 'tester@example.com' : `${name}@example.com`;
    if (user !== undefined) users.push(`{ email: ${email}, ${user} }`);
    if (team !== undefined) {
      const members = `[{ user: ${email}, role: member${member ?? ''} }]`;
      teams.push(`{ name: ${name}, members: ${members}, ${team} }`);
    }
    const parts = [settings, team === undefined ? undefined : `team: ${name}`];
    const more = parts.filter((part) => part !== undefined).map((part) => `, ${part}`);
    keys.push(`{ name: ${name}, user: ${email}, secret: ${key(name)}${more.join('')} }`);
  }
  const list = (lines: readonly string[]) => lines.map((line) => `\n  - ${line}`).join('');
  return `users:${list(users)}\nteams:${list(teams)}\nkeys:${list(keys)}\n`;
}

const shared = shareGateway({
  config: `
groups: [{ name: vip }]
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat, responses, messages, generate-content]
    models:
      - { name: open, upstream: demo-chat }
      - { name: other, upstream: demo-chat }
      - { name: asleep, upstream: demo-chat }
models:
  - { id: open, type: chat, price: { input: 1, output: 2 } }
  - { id: other, type: chat, price: { input: 1, output: 2 } }
  - { id: asleep, type: chat, enabled: false, price: { input: 1, output: 2 } }
${describeAccounts()}`,
});

interface Endpoint {
  readonly name: string;
  readonly reach: Reach;
  readonly path: (model: string) => string;
  /** Absent: GET. */
  readonly body?: (model: string) => object;
}

const question = [{ role: 'user', content: 'hello' }];

const endpoints: readonly Endpoint[] = [
  ...textProtocols.flatMap((protocol) =>
    [false, true].map((stream): Endpoint => ({
      name: `${protocol.name}${stream ? ' streamed' : ''}`,
      reach: 'generation',
      path: (model) => protocol.path(model, stream),
      body: (model) => protocol.body(model, stream),
    })),
  ),
  {
    name: 'generate-content below /v1',
    reach: 'generation',
    path: (model) => `/v1/models/${model}:generateContent`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }),
  },
  {
    name: 'count_tokens',
    reach: 'model',
    path: () => '/v1/messages/count_tokens',
    body: (model) => ({ model, messages: question }),
  },
  {
    name: 'countTokens',
    reach: 'model',
    path: (model) => `/v1beta/models/${model}:countTokens`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'hello' }] }] }),
  },
  { name: 'models', reach: 'everything', path: () => '/v1/models' },
  { name: 'models of Gemini clients', reach: 'everything', path: () => '/v1beta/models' },
  { name: 'own usage', reach: 'everything', path: () => '/v1/usage' },
];

const reaches: readonly Reach[] = ['everything', 'model', 'generation'];
const holds = (restriction: Restriction, endpoint: Endpoint): boolean =>
  reaches.indexOf(endpoint.reach) >= reaches.indexOf(restriction.reach);

const schemes = {
  bearer: (secret: string) => ({ authorization: `Bearer ${secret}` }),
  'x-api-key': (secret: string) => ({ 'x-api-key': secret }),
  'x-goog-api-key': (secret: string) => ({ 'x-goog-api-key': secret }),
  'x-vendorc-api-key': (secret: string) => ({ 'X-VendorC-API-Key': secret }),
  'all of them': (secret: string) => ({
    authorization: `bearer ${secret}`,
    'x-api-key': secret,
    'x-goog-api-key': secret,
  }),
};

/** What a client sees of an error: its protocol's own word for the type stands for it. */
interface Seen {
  readonly status: number;
  readonly type: string | null;
  readonly message: string | null;
  readonly retryAfter: boolean;
}

/** Every refusal whole, head and body. */
const refusals: string[] = [];

async function call(
  { path, body }: Endpoint,
  model: string,
  headers: Record<string, string>,
): Promise<Seen> {
  const response = await fetch(shared.gateway.url + path(model), {
    headers: { 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body(model)) }),
  });
  const text = await response.text();
  if (response.status === 200) {
    return { status: 200, type: null, message: null, retryAfter: false };
  }
  refusals.push(`${JSON.stringify([...response.headers])} ${text}`);
  const { error } = JSON.parse(text) as {
    error: { type?: string; status?: string; message: string };
  };
  return {
    status: response.status,
    type: error.type ?? error.status ?? null,
    // A sentence about money says whose it is; the contract is what stands before the colon.
    message: response.status === 402 ? (error.message.split(':')[0] ?? '') : error.message,
    retryAfter: response.headers.has('retry-after'),
  };
}

/** In the words of chat, messages and generate-content. */
const types: Readonly<Record<string, readonly [string, string, string]>> = {
  authentication_error: ['authentication_error', 'authentication_error', 'UNAUTHENTICATED'],
  permission_error: ['permission_error', 'permission_error', 'PERMISSION_DENIED'],
  invalid_request_error: ['invalid_request_error', 'invalid_request_error', 'INVALID_ARGUMENT'],
  insufficient_balance: ['insufficient_balance', 'insufficient_balance', 'FAILED_PRECONDITION'],
  rate_limit_error: ['rate_limit_error', 'rate_limit_error', 'RESOURCE_EXHAUSTED'],
};

function wordFor(type: string, path: string): string {
  const [a, b, c] = types[type]!;
  if (path.startsWith('/v1/messages')) return b;
  return path.startsWith('/v1beta/') || path.includes(':generateContent') ? c : a;
}

describe.each(Object.entries(schemes))('S-01 %s', (_name, present) => {
  test('a key without restrictions may do everything', async () => {
    for (const endpoint of endpoints) {
      const seen = await call(endpoint, 'open', present(key('free')));
      expect([endpoint.name, seen.status]).toEqual([endpoint.name, 200]);
    }
  });

  test.each(restrictions)('$name', async (restriction) => {
    const { name, status, type, message, model = 'open' } = restriction;
    const headers = present(key(name));
    for (const endpoint of endpoints) {
      const seen = await call(endpoint, model, headers);
      if (!holds(restriction, endpoint)) {
        expect([endpoint.name, seen.status]).toEqual([endpoint.name, 200]);
        continue;
      }
      expect([endpoint.name, seen]).toEqual([
        endpoint.name,
        {
          status,
          type: wordFor(type, endpoint.path(model)),
          message: expect.stringMatching(`^${message}`) as string,
          // Nobody is told to wait for a limit of zero.
          retryAfter: false,
        },
      ]);
    }
  });
});

test('S-01 ?key= below /v1beta is the same key; elsewhere it is ignored', async () => {
  for (const { name, status } of restrictions.filter(({ reach }) => reach === 'everything')) {
    for (const { path, body, name: at } of endpoints) {
      const url = path('open');
      const join = url.includes('?') ? '&' : '?';
      const seen = await call(
        {
          name: at,
          reach: 'model',
          path: () => `${url}${join}key=${key(name)}`,
          ...(body && { body }),
        },
        'open',
        {},
      );
      const expected = url.startsWith('/v1beta/') ? status : 401;
      expect([name, at, seen.status]).toEqual([name, at, expected]);
    }
  }
});

test('a restricted key sees only models that it may use', async () => {
  const modelsOf = async (name: string): Promise<string[]> => {
    const response = await fetch(`${shared.gateway.url}/v1/models`, {
      headers: schemes.bearer(key(name)),
    });
    const { data } = (await response.json()) as { data: { id: string }[] };
    return data.map(({ id }) => id).toSorted();
  };
  expect(await modelsOf('free')).toEqual(['open', 'other']);
  expect(await modelsOf('listed')).toEqual(['other']);
  expect(await modelsOf('grouped')).toEqual([]);
  const one = (id: string) =>
    fetch(`${shared.gateway.url}/v1/models/${id}`, { headers: schemes.bearer(key('listed')) });
  expect((await one('other')).status).toBe(200);
  expect((await one('open')).status).toBe(404);
});

test('a refused request never reaches an upstream', async () => {
  const before = shared.gateway.simulator.requests().length;
  for (const restriction of restrictions) {
    for (const endpoint of endpoints.filter(({ reach }) => reach === 'generation')) {
      const model = restriction.model ?? 'open';
      await call(endpoint, model, schemes.bearer(key(restriction.name)));
    }
  }
  expect(shared.gateway.simulator.requests()).toHaveLength(before);
});

test('S-09 no refusal shows any part of a key, or an internal name', async () => {
  const unknown = `${key('free')}x`;
  for (const endpoint of endpoints) {
    for (const present of Object.values(schemes)) await call(endpoint, 'open', present(unknown));
    await call(endpoint, 'no-such-model', schemes.bearer(key('free')));
  }
  const { kysely } = shared.gateway.app.database;
  const keys = await kysely.selectFrom('keys').select(['id', 'hash', 'prefix', 'name']).execute();
  const [users, teams, channels] = await Promise.all([
    kysely.selectFrom('users').select(['id', 'email']).execute(),
    kysely.selectFrom('teams').select(['id']).execute(),
    kysely.selectFrom('channels').select(['id']).execute(),
  ]);
  const secrets = [unknown, ...keys.map(({ name }) => key(name))];
  const never = [
    ...secrets.map((secret) => secret.slice(3, 20)),
    ...secrets.flatMap((secret) =>
      (['hex', 'base64', 'base64url'] as const).map((encoding) =>
        createHash('sha256').update(secret).digest(encoding).slice(0, 20),
      ),
    ),
    ...keys.flatMap(({ id, hash, prefix }) => [id, hash ?? id, prefix]),
    ...users.flatMap(({ id, email }) => [id, email]),
    ...[...teams, ...channels].map(({ id }) => id),
    '127.0.0.1',
  ];
  expect(keys.length).toBe(restrictions.length + 1);
  const statuses = new Set(refusals.map((text) => /"x-request-id"/.test(text)));
  expect([refusals.length > 500, [...statuses]]).toEqual([true, [true]]);
  expect(never.filter((part) => refusals.some((text) => text.includes(part)))).toEqual([]);
});
