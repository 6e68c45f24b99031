import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { TestGateway } from '#test/support/gateway.ts';
import { signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* The settings in force, the export, and the plan of a file that somebody posts. */

const canaries = {
  MASTER: randomBytes(32).toString('base64'),
  TOKEN: 'canary-metrics-0123456789',
  UPSTREAM: 'canary-upstream-0123456789',
  HEADER: 'canary-header-0123456789',
  ADMIN_KEY: 'sk-canary-0123456789abcdefghijklmnopqrstu',
};
const lists = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    models: [demo-chat]
    api_key: \${UPSTREAM}
    headers: { x-secret: "\${HEADER}" }
    proxy: http://ann:canary-proxy@proxy.example.com:3128
users:
  - { email: administrator@example.com, role: admin }
  - { email: admin@example.com, role: admin, balance: 100 }
  - { email: member@example.com, balance: 100 }
  - { email: viewer@example.com, role: viewer }
${Array.from({ length: 6 }, (_, index) => `  - { email: v${index}@example.com, role: viewer }`).join('\n')}
keys:
  - { name: admins, user: admin@example.com, secret: "\${ADMIN_KEY}" }
`;
const config = `${lists}
secrets: { master_key: "\${MASTER}" }
metrics: { token: "\${TOKEN}" }
limits: { in_flight: 40 }
`;

let gateway: TestGateway;
let admin: Person;
const viewers: Person[] = [];
beforeAll(async () => {
  gateway = await startWithPeople({ config, environment: canaries });
  admin = await signInAs(gateway, 'admin');
  for (let index = 0; index < 6; index += 1) viewers.push(await signInAs(gateway, `v${index}`));
});
afterAll(() => gateway.close());

interface Plan {
  readonly ok: boolean;
  readonly steps: readonly {
    kind: string;
    name: string;
    action: string;
    changes: { field: string }[];
  }[];
  readonly more_steps: number;
  readonly settings: readonly { name: string; before: unknown; after: unknown }[];
  readonly conflicts: readonly string[];
  readonly notes: readonly string[];
  readonly not_compared: readonly { line: number; path: string; reason: string }[];
  readonly error?: { readonly code: string; readonly fields: readonly { message: string }[] };
}

let calls = 0;

/** Each person may do it ten times a minute. */
async function plan(text: string, more: object = {}) {
  const viewer = viewers[Math.floor(calls / 10)];
  calls += 1;
  if (viewer === undefined) throw new Error('more people are needed');
  const response = await viewer.send('POST', '/config/plan', { text, ...more });
  const answer = await response.text();
  return { status: response.status, answer, plan: JSON.parse(answer) as Plan };
}

/** The file in force, as somebody has it who knows no secret; its placeholders stay. */
const posted = () => config.replaceAll('SIMULATOR', gateway.simulator.url);
/** What the test gateway sets besides. */
const ownSettings = ['server.port', 'server.drain_timeout', 'storage.url', 'storage.data_dir'];

test('settings have their origin; no secret is in them or in the export', async () => {
  const response = await admin.get('/config');
  const text = await response.text();
  const { file, settings, waiting } = JSON.parse(text) as {
    file: string;
    settings: { name: string; value: unknown; origin: { from: string; line: number | null } }[];
    waiting: string[];
  };
  expect([file, waiting]).toEqual(['test.yaml', []]);
  const of = (name: string) => settings.find((each) => each.name === name);
  expect(of('limits.in_flight')).toMatchObject({
    value: 40,
    usual: 5000,
    origin: { from: 'file' },
  });
  expect(of('limits.key_concurrency')).toMatchObject({ value: 20, origin: { from: 'default' } });
  expect(of('limits.body_memory')?.value).toMatch(/^\d+\w*B$/);
  expect(of('metrics.token')).toMatchObject({
    value: null,
    secret: true,
    set: true,
    origin: { variables: ['TOKEN'] },
  });

  const exported = await admin.get('/config/export');
  expect(exported.headers.get('content-type')).toBe('application/yaml');
  const yaml = await exported.text();
  const record = await admin.get('/audit?action=config.export');
  expect(await record.json()).toMatchObject({
    data: [{ actor: { name: 'admin@example.com' }, object: { name: 'sluice.yaml' } }],
  });
  expect(parse(yaml)).toMatchObject({
    channels: [
      {
        name: 'sim',
        api_key: '${SIM_API_KEY}',
        headers: { 'x-secret': '${SIM_HEADER_X_SECRET}' },
      },
    ],
    keys: [{ name: 'admins', user: 'admin@example.com' }],
  });
  for (const secret of [...Object.values(canaries), 'canary-proxy']) {
    expect(text + yaml).not.toContain(secret);
  }
});

test('the file in force changes nothing, with its placeholders as they stand', async () => {
  const { status, plan: result } = await plan(posted());
  expect(status).toBe(200);
  expect(result).toMatchObject({ ok: true, steps: [], more_steps: 0, conflicts: [] });
  expect(result.settings.map(({ name }) => name)).toEqual(ownSettings);
  expect(result.not_compared.map(({ line, path, reason }) => [line, path, reason])).toEqual([
    [8, 'channels[0].api_key', 'secret'],
    [9, 'channels[0].headers', 'secret'],
    [10, 'channels[0].proxy', 'secret'],
    [23, 'keys[0].secret', 'secret'],
    [25, 'secrets.master_key', 'secret'],
    [26, 'metrics.token', 'secret'],
  ]);
});

test('what a file changes is shown, and what takes a start', async () => {
  const text = posted()
    .replace('in_flight: 40', 'in_flight: 80')
    .replace('protocols: [chat]', 'weight: 3\n    protocols: [chat]')
    .replace(/ {2}- \{ email: member.*\n/, '');
  const { plan: result } = await plan(text);
  expect(result.steps).toEqual([
    {
      kind: 'channel',
      name: 'sim',
      action: 'update',
      changes: [{ field: 'weight', before: 1, after: 3, secret: false }],
    },
    { kind: 'user', name: 'member@example.com', action: 'disable', changes: [] },
  ]);
  expect(result.settings).toContainEqual({ name: 'limits.in_flight', before: 40, after: 80 });
  const { kysely } = gateway.app.database;
  const rows = await kysely.selectFrom('channels').select('weight').execute();
  expect(rows).toEqual([{ weight: 1 }]);
});

test('what the console created is a conflict, unless the file takes over', async () => {
  const group = await admin.send('POST', '/groups', { name: 'partners', price_multiplier: '2' });
  expect(group.status).toBe(201);
  const text = `${posted()}groups: [{ name: partners, price_multiplier: 1 }]`;
  const refused = await plan(text);
  expect([refused.status, refused.plan.ok]).toEqual([200, false]);
  expect(refused.plan.conflicts).toEqual([expect.stringContaining("group 'partners'")]);
  const { plan: taken } = await plan(text, { take_over: true });
  expect(taken).toMatchObject({
    ok: true,
    conflicts: [],
    steps: [
      {
        kind: 'group',
        name: 'partners',
        changes: [
          { field: 'price_multiplier', before: '2', after: '1' },
          { field: 'owner', before: 'console', after: 'file' },
        ],
      },
    ],
  });
});

const passwd = '${file:/etc/passwd}';
/** A placeholder in each place where a file may have one. */
const unfilled: readonly [string, string, readonly string[]][] = [
  ['of a setting', `server: { host: "${passwd}" }`, ['server.host']],
  ['of a number', 'limits: { queue: "${HOME:-7}" }', ['limits.queue']],
  ['in a list of a setting', `server: { cors_origins: ["${passwd}"] }`, ['server.cors_origins']],
  [
    'in new entries',
    `channels: [{ name: new, provider: openai-compatible, base_url: "${passwd}", models: ["\${PATH}"] }]`,
    ['channels[0].base_url', 'channels[0].models'],
  ],
  [
    'of an entry that is there',
    `channels: [{ name: sim, provider: "${passwd}", base_url: "\${HOME}", models: [{ name: "\${PATH}" }] }]`,
    ['channels[0].provider', 'channels[0].base_url', 'channels[0].models'],
  ],
  [
    'of a key',
    `users: [{ email: viewer@example.com, role: viewer }]\nkeys: [{ name: admins, user: "${passwd}" }]`,
    ['keys[0].user'],
  ],
  ['of an alias', `aliases: { fast: "${passwd}" }`, ['aliases.fast']],
  ['through an alias of YAML', `x: &a "${passwd}"\nserver: { host: *a }`, []],
];

test.each(unfilled)('a placeholder %s is not filled, nor shown', async (_name, text, paths) => {
  const { answer, plan: result } = await plan(text);
  expect(answer).not.toMatch(/root:|\/bin\//);
  expect(answer).not.toContain(process.env['PATH']);
  if (paths.length === 0) {
    expect(result.error?.fields.map(({ message }) => message).join()).toMatch(/^1: x: expected/);
    return;
  }
  expect(result.error).toBeUndefined();
  const left = result.not_compared.filter(({ reason }) => reason === 'placeholder');
  expect(left.map(({ path }) => path)).toEqual(paths);
  // What is not known changes nothing.
  const fields = result.steps.flatMap(({ changes }) => changes.map(({ field }) => field));
  expect(fields).not.toContain('base_url');
  const gone = result.steps.filter(({ action }) => action === 'disable').map(({ name }) => name);
  if (text.includes('name: sim')) expect(gone).not.toContain('sim');
  if (text.includes('name: admins')) expect(gone).not.toContain('admins');
});

const bomb = Array.from(
  { length: 9 },
  (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(9)}]`,
).join('\n');
const wrong: readonly [string, string, string | RegExp][] = [
  [
    'a typing error',
    'server:\n  prot: 1',
    '2: server.prot: expected a known key, got "prot" (did you mean "port"?)',
  ],
  ['no YAML', 'server: [', /^1: expected valid YAML, got /],
  ['something else', 'just a text', '1: expected a mapping of settings, got a single value'],
  [
    'a list of placeholders',
    `channels: "${passwd}"`,
    '1: channels: expected what can be compared, got a placeholder',
  ],
  [
    'a name that is one',
    `groups: [{ name: "${passwd}" }]`,
    '1: groups[0].name: expected what can be compared, got a placeholder',
  ],
  ['a bomb of aliases', `a0: &a0 [1]\n${bomb}`, /at most 10000 values through aliases, got more/],
  ['brackets', `a: ${'['.repeat(5_000)}`, /at most 32 levels, got something nested too deeply/],
  ['two documents', 'a: 1\n---\nb: 2', /got a second document/],
  [
    'a credential',
    'server: { port: sk-canary-0123456789 }',
    /^1: server.port: expected .*, got a string$/,
  ],
];

test.each(wrong)('%s is refused with its line', async (_name, text, message) => {
  const { status, answer, plan: result } = await plan(text);
  expect([status, result.error?.code]).toEqual([400, 'invalid']);
  const messages = result.error?.fields.map((field) => field.message) ?? [];
  expect(messages).toContainEqual(
    typeof message === 'string' ? message : expect.stringMatching(message),
  );
  expect(answer).not.toMatch(/root:|canary/);
});

test('a guessed secret is compared with none, and neither is a password', async () => {
  const guessed = posted().replace('"${ADMIN_KEY}"', canaries.ADMIN_KEY);
  const renamed = guessed.replace('name: admins', 'name: mine');
  const other = renamed.replace(canaries.ADMIN_KEY, 'sk-another-0123456789abcdefghijklmnopqrst');
  const [right, wrongOne] = [await plan(renamed), await plan(other)];
  expect(right.answer).toBe(wrongOne.answer);
  const withPassword = (value: string) => plan(`${posted()}admin: { password: ${value} }`);
  const passwords = [
    await withPassword('correct-horse-battery'),
    await withPassword('another-one-entirely'),
  ];
  expect(passwords[0]?.answer).toBe(passwords[1]?.answer);
});

test('ten a minute', async () => {
  const statuses: number[] = [];
  for (let count = 0; count < 11; count += 1) {
    const response = await admin.send('POST', '/config/plan', { text: '{}' });
    statuses.push(response.status);
    await response.body?.cancel();
  }
  expect(new Set(statuses.slice(0, 8))).toEqual(new Set([200]));
  expect(statuses.at(-1)).toBe(429);
});
