import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import { listChannels } from '#catalogue/index.ts';
import { kinds } from '#config/index.ts';
import { createSecrets } from '#database/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, config, secrets as keys, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* Channels that people add and change at the console. */

const masterKey = randomBytes(32);

let gateway: TestGateway;
let admin: Person;
beforeAll(async () => {
  const settings = `secrets: { master_key: '${masterKey.toString('base64')}' }`;
  gateway = await startWithPeople({ config: `${config}${settings}` });
  admin = await signInAs(gateway, 'admin');
});
afterAll(() => gateway.close());

const apiKey = 'sk-upstream-0123456789abcdef';
const otherKey = 'sk-another-0123456789abcde0';
const azure = {
  provider: 'openai-compatible',
  base_url: 'https://eu.example.com/v1',
  models: ['demo-chat', { name: 'demo-image', upstream: 'image-1' }],
  api_keys: [apiKey],
  headers: { 'x-tenant': 'tenant-secret-0123456789' },
  proxy: 'http://proxy-user:proxy-password@proxy.example.com:3128/',
  timeouts: { first_byte: '30s' },
  priority: 3,
};

interface Channel {
  readonly id: string;
  readonly revision: number;
  readonly [member: string]: unknown;
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly channel: Channel;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly fields?: readonly { readonly path: string; readonly message: string }[];
    readonly object?: Channel;
  };
}

async function read(sent: Promise<Response>): Promise<Answer> {
  const response = await sent;
  const text = await response.text();
  const body = JSON.parse(text) as Channel & Pick<Answer, 'error'>;
  return { status: response.status, text, channel: body, error: body.error };
}

const create = (name: string, members: object, headers = {}) =>
  read(admin.send('POST', '/channels', { name, ...azure, ...members }, headers));
const change = ({ id, revision }: Channel, members: object) =>
  read(admin.send('PATCH', `/channels/${id}`, members, { 'if-match': `"${revision}"` }));
const stored = async (name: string) => {
  const secrets = createSecrets(masterKey);
  const all = await listChannels(gateway.app.database.kysely, secrets);
  return all.find((channel) => channel.name === name);
};

test('a channel is added, shown without its secrets, changed, and serves', async () => {
  const { status, channel, text } = await create('azure-eu', {});
  expect([status, text]).toEqual([201, expect.not.stringMatching(/0123456789|proxy-password/)]);
  expect(channel).toMatchObject({
    name: 'azure-eu',
    api_keys: [{ hint: 'sk-…cdef', number: 1 }],
    headers: { 'x-tenant': { hint: 'ten…6789' } },
    proxy: 'http://proxy.example.com:3128',
    models: azure.models,
    timeouts: { first_byte: '30s' },
    owner: 'console',
    editable: true,
    enabled: true,
  });
  const changed = await change(channel, { priority: 7, enabled: false, timeouts: null });
  expect([changed.status, changed.error]).toEqual([200, undefined]);
  expect(changed.channel).toMatchObject({ priority: 7, enabled: false, timeouts: {} });
  expect(await stored('azure-eu')).toMatchObject({
    apiKeys: [apiKey],
    headers: azure.headers,
    proxy: azure.proxy,
    priority: 7,
  });
  const again = await read(admin.get(`/channels/${channel.id}`));
  expect(again.channel).toEqual(changed.channel);
  const named = await read(admin.get('/channels/azure-eu'));
  expect(named.channel).toEqual(changed.channel);

  const { channel: added } = await create('second', {
    provider: 'simulator',
    base_url: gateway.simulator.url,
    models: ['demo-chat'],
    priority: 9,
    api_keys: [],
    headers: {},
    proxy: null,
    timeouts: {},
  });
  await expect
    .poll(() => gateway.app.catalogue.snapshot().channels.map(({ name }) => name))
    .toContain('second');
  await change(added, { enabled: false });
  await expect
    .poll(() => gateway.app.catalogue.snapshot().channels.map(({ name }) => name))
    .not.toContain('second');
});

test('the list has every channel: as it is asked, with hints, and what would stop without it', async () => {
  const { channel } = await create('listed', { models: ['demo-image', 'demo-*'], weight: 4 });
  const listed = async () => {
    const response = await admin.get('/channels');
    const text = await response.text();
    expect([response.status, text]).toEqual([
      200,
      expect.not.stringMatching(/0123456789|proxy-password|example\.com/),
    ]);
    return (JSON.parse(text) as { data: Channel[] }).data.find(({ id }) => id === channel.id);
  };
  const inUse = {
    name: 'listed',
    models: ['demo-image', 'demo-*'],
    weight: 4,
    enabled: true,
    editable: true,
    declared_in: null,
    revision: channel.revision,
    api_keys: [{ hint: 'sk-…cdef', state: 'ready' }],
    state: 'works',
    rest_ms: 0,
    verdict: 'unasked',
  };
  await expect.poll(listed).toMatchObject({
    ...inUse,
    // `sim` serves what else the pattern matches.
    alone: { count: 1, models: ['demo-image'] },
  });
  await change(channel, { enabled: false });
  await expect.poll(listed).toMatchObject({
    enabled: false,
    alone: { count: 0, models: [] },
    api_keys: [{ hint: 'sk-…cdef', state: null }],
    state: null,
  });
});

test('the list has the place of a channel of the file', async () => {
  const { data } = (await (await admin.get('/channels')).json()) as { data: Channel[] };
  expect(data.find(({ name }) => name === 'sim')).toMatchObject({
    editable: false,
    owner: 'file',
    declared_in: { path: 'channels[0]' },
  });
});

test.each([
  ['no provider', { provider: undefined }, ['provider']],
  ['no address', { base_url: undefined }, ['base_url']],
  ['a model that nobody knows', { models: ['demo-chat', 'nothing'] }, ['models[1]']],
  ['a model twice', { models: ['demo-chat', 'demo-chat'] }, ['models[1]']],
  ['a group that nobody knows', { groups: ['nothing'] }, ['groups[0]']],
  ['a protocol that the vendor does not speak', { protocols: ['messages'] }, ['protocols[0]']],
  [
    'a header of the connection',
    { headers: { 'Content-Length': '1' } },
    ['headers["Content-Length"]', 'headers.Content-Length'],
  ],
  ['a variable for a key', { api_keys: ['${OPENAI_API_KEY}'] }, ['api_keys[0]']],
  ['a file for a key', { api_keys: ['${file:/etc/passwd}'] }, ['api_keys[0]']],
  ['several mistakes', { weight: -1, cache: 'sometimes' }, ['weight', 'cache']],
  ['very deep values', { models: [[[[[[[[[[[[[['x']]]]]]]]]]]]]] }, ['models[0]']],
] as const)('a channel with %s is refused', async (_what, members, paths) => {
  const { status, error } = await create('wrong', members);
  expect([status, error.code]).toEqual([400, 'invalid']);
  for (const { path } of error.fields ?? []) expect(paths).toContain(path);
  expect(error.fields?.length).toBeGreaterThan(0);
  expect(await stored('wrong')).toBeUndefined();
});

test('everything that is wrong is said at once, also what only the database knows', async () => {
  await create('taken', {});
  const wrong = { models: ['nothing'], groups: ['nobody'], weight: -1, headers: { 'a b': 'x' } };
  const { status, error } = await create('taken', wrong);
  expect([status, error.fields?.map(({ path }) => path)]).toEqual([
    400,
    expect.arrayContaining(['name', 'models[0]', 'groups[0]', 'weight', 'headers']),
  ]);
  const nameless = await read(admin.send('POST', '/channels', { models: ['nothing'] }));
  expect(nameless.error.fields?.map(({ path }) => path)).toEqual(['name', 'provider', 'models[0]']);
});

test('a form has every member of the file, its choices, and the vendors with their addresses', async () => {
  const response = await admin.get('/forms/channel');
  const { members, vendors, groups, models } = (await response.json()) as {
    members: { name: string; choices: string[] | null; usual: unknown; secret: boolean }[];
    vendors: { name: string }[];
    groups: string[];
    models: string[];
  };
  expect(members.map(({ name }) => name)).toEqual(kinds.channel.list.map(({ name }) => name));
  expect(members).toContainEqual(
    expect.objectContaining({ name: 'cache', choices: ['auto', 'off'], usual: 'auto' }),
  );
  expect(members.filter(({ secret }) => secret).map(({ name }) => name)).toEqual([
    'api_keys',
    'headers',
    'proxy',
  ]);
  expect(vendors).toContainEqual({
    name: 'groq',
    provider: 'openai-compatible',
    base_url: 'https://api.groq.com/openai/v1',
    protocols: ['chat', 'responses'],
    also_speaks: ['responses', 'images'],
    key_beginnings: ['gsk_'],
  });
  expect([groups, models]).toEqual([['default'], expect.arrayContaining(['demo-chat'])]);
});

test('a stored credential is sent to its stored address only', async () => {
  const { channel } = await create('careful', {});
  const elsewhere = 'https://elsewhere.example.com/v1';
  for (const [members, paths] of [
    [{ base_url: elsewhere }, ['api_keys', 'headers']],
    [{ base_url: elsewhere, api_keys: [{ hint: 'sk-…cdef' }] }, ['api_keys', 'headers']],
    [{ base_url: elsewhere, api_keys: [otherKey] }, ['headers']],
    [{ provider: 'openai' }, ['api_keys', 'headers']],
    [{ proxy: 'http://elsewhere.example.com:3128' }, ['api_keys', 'headers']],
    [{ proxy: 'direct' }, ['api_keys', 'headers']],
    [{ headers: { 'x-forwarded-host': 'elsewhere.example.com' } }, ['api_keys']],
    [{ headers: { 'x-tenant': null } }, ['api_keys']],
  ] as const) {
    const { status, error } = await change(channel, members);
    expect([members, status, error.fields?.map(({ path }) => path)]).toEqual([members, 400, paths]);
  }
  expect(await stored('careful')).toMatchObject({ baseUrl: azure.base_url, apiKeys: [apiKey] });
  const { status } = await change(channel, {
    base_url: elsewhere,
    api_keys: [otherKey],
    headers: { 'x-tenant': null, 'x-other': 'one' },
  });
  expect(status).toBe(200);
  expect(await stored('careful')).toMatchObject({
    baseUrl: elsewhere,
    apiKeys: [otherKey],
    headers: { 'x-other': 'one' },
  });
});

test('another provider brings its own address and protocols', async () => {
  const { channel } = await create('moving', { protocols: ['images'] });
  const { status } = await change(channel, {
    provider: 'openai',
    api_keys: [otherKey],
    headers: { 'x-tenant': null },
  });
  expect(status).toBe(200);
  const moved = await stored('moving');
  expect(moved?.baseUrl).not.toBe(azure.base_url);
  expect(moved?.protocols).toContain('responses');
});

test("another channel's id is no name, and a change that changes nothing is not on record", async () => {
  const { channel } = await create('first-of-two', {});
  const second = await create(channel.id, {});
  expect([second.status, second.error.code]).toEqual([409, 'name_taken']);
  expect((await change(channel, { priority: azure.priority })).status).toBe(200);
  const { kysely } = gateway.app.database;
  const lines = await listAudit(kysely, { action: 'channel', object: 'first-of-two', limit: 9 });
  expect(lines.map(({ action }) => action)).toEqual(['channel.create']);
});

test('a key is added beside a stored one, which its hint keeps', async () => {
  const { channel } = await create('two-keys', {});
  const { channel: both } = await change(channel, { api_keys: [otherKey, { hint: 'sk-…cdef' }] });
  expect(await stored('two-keys')).toMatchObject({ apiKeys: [otherKey, apiKey] });
  const { status, error } = await change(both, { api_keys: [{ hint: 'sk-…none' }] });
  expect([status, error.fields?.[0]?.path]).toEqual([400, 'api_keys[0]']);
});

test('of keys with one hint, the number says which stays', async () => {
  const alike = ['sk-a-0123456789abcdef', 'sk-b-0123456789abcdef', 'sk-c-0123456789abcdef'];
  let { channel } = await create('alike', { api_keys: alike });
  const hint = 'sk-…cdef';
  expect(channel.api_keys).toEqual([1, 2, 3].map((number) => ({ hint, number })));
  const replaced = [{ hint, number: 3 }, otherKey, { hint, number: 1 }];
  ({ channel } = await change(channel, { api_keys: replaced }));
  expect((await stored('alike'))?.apiKeys).toEqual([alike[2], otherKey, alike[0]]);
  const { status } = await change(channel, { api_keys: [{ hint, number: 2 }] });
  expect(status).toBe(400);
  // Without a number, each is the first that is left.
  await change(channel, { api_keys: [{ hint }, { hint }] });
  expect((await stored('alike'))?.apiKeys).toEqual([alike[2], alike[0]]);
});

test('a name is taken once, and a repeated call adds one channel', async () => {
  const headers = { 'idempotency-key': 'one' };
  const first = await create('once', {}, headers);
  const second = await create('once', {}, headers);
  expect(second.channel).toEqual(first.channel);
  expect((await create('once', {})).error.code).toBe('name_taken');
  expect((await create('twice', {}, headers)).error.code).toBe('idempotency_conflict');
});

test('of two who change one channel, the second sees what the first has made of it', async () => {
  const { channel } = await create('shared', {});
  const first = await change(channel, { weight: 5 });
  const { status, error } = await change(channel, { weight: 6 });
  expect([status, error.code]).toEqual([412, 'stale']);
  expect(error.object).toEqual(first.channel);
});

test('a channel of the file is shown with its place, and not changed', async () => {
  const { id, revision } = (await stored('sim'))!;
  const { channel } = await read(admin.get(`/channels/${id}`));
  expect(channel).toMatchObject({ editable: false, declared_in: { path: 'channels[0]' } });
  const { status, error } = await change({ id, revision }, { priority: 9 });
  expect([status, error]).toEqual([
    409,
    expect.objectContaining({ code: 'owned_by_file', path: 'channels[0]' }),
  ]);
});

test('a change does not fail for what was wrong before', async () => {
  const { channel } = await create('older', { groups: ['default'] });
  const { kysely } = gateway.app.database;
  await kysely
    .updateTable('channels')
    .set({
      settings: JSON.stringify({
        models: [{ name: 'gone', upstream: 'gone' }],
        protocols: ['chat'],
        groups: ['default'],
      }),
    })
    .where('name', '=', 'older')
    .execute();
  const { status } = await change(channel, { weight: 4 });
  expect(status).toBe(200);
});

test('the pauses of a channel are ended, which needs no revision and is on record', async () => {
  const { channel } = await create('resting', {
    provider: 'simulator',
    base_url: gateway.simulator.url,
    api_keys: ['invalid-0123456789abcdef'],
    models: ['demo-reasoning'],
    headers: {},
    proxy: null,
    timeouts: {},
  });
  const listed = async () => {
    const { data } = (await (await admin.get('/channels')).json()) as { data: Channel[] };
    return data.find(({ id }) => id === channel.id);
  };
  await expect.poll(listed).toMatchObject({ state: 'works' });
  await ask(gateway, keys.admin, 'demo-reasoning');
  expect(await listed()).toMatchObject({ state: 'refused', rest_ms: expect.any(Number) });
  const reset = await read(admin.send('POST', `/channels/${channel.id}/reset`, {}));
  expect([reset.status, reset.channel['name']]).toEqual([200, 'resting']);
  await expect.poll(listed).toMatchObject({ state: 'works', rest_ms: 0 });
  const missing = await read(admin.send('POST', '/channels/nothing/reset', {}));
  expect(missing.status).toBe(404);
  const lines = await gateway.app.database.kysely
    .selectFrom('audit_log')
    .select('action')
    .where('action', '=', 'channel.reset')
    .execute();
  expect(lines).toHaveLength(1);
});

test('the audit log has who changed what, and no secret', async () => {
  await create('audited', {});
  const { kysely } = gateway.app.database;
  const lines = await kysely.selectFrom('audit_log').selectAll().execute();
  const text = JSON.stringify(lines);
  expect(text).toContain('audited');
  expect(text).toContain('admin@example.com');
  expect(text).not.toMatch(/sk-upstream|sk-another|tenant-secret|proxy-password/);
});
