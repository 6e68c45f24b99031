import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, config, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* Models, prices, aliases and groups that people add and change at the console. */

const declared = `
models:
  - { id: of-the-file, type: chat, price: { input: 1, output: 2 } }
aliases: { old: demo-chat }
groups:
  - { name: filed, price_multiplier: 2 }
`;

let gateway: TestGateway;
let admin: Person;
let member: Person;
beforeAll(async () => {
  gateway = await startWithPeople({ config: `${config}${declared}` });
  admin = await signInAs(gateway, 'admin');
  member = await signInAs(gateway, 'member');
});
afterAll(() => gateway.close());

interface Answer {
  readonly status: number;
  readonly etag: string;
  readonly body: Readonly<Record<string, unknown>> & {
    readonly settings?: Readonly<Record<string, unknown>>;
    readonly data?: readonly Readonly<Record<string, unknown>>[];
    readonly error?: {
      readonly code: string;
      readonly message: string;
      readonly fields?: readonly { readonly path: string }[];
      readonly object?: Readonly<Record<string, unknown>>;
    };
  };
}

async function read(sent: Promise<Response>): Promise<Answer> {
  const response = await sent;
  const etag = response.headers.get('etag') ?? '';
  return { status: response.status, etag, body: (await response.json()) as Answer['body'] };
}

const get = (path: string, person = admin) => read(person.get(path));
const send = (method: string, path: string, body: object, headers = {}) =>
  read(admin.send(method, path, body, headers));
const patch = (path: string, etag: string, body: object) =>
  send('PATCH', path, body, { 'if-match': etag });
const refusalOf = ({ status, body: { error } }: Answer) => [
  status,
  error?.code,
  error?.fields?.map(({ path }) => path),
];

/** The row of a request for the demo's model, once it is there. */
async function costOf(): Promise<unknown> {
  const id = await ask(gateway, secrets.member);
  await gateway.usage();
  const { body } = await get(`/usage/${id}`);
  return body['cost_usd'] ?? body['cost'];
}

test('a model is added with its price, changed, and its price has a history', async () => {
  const members = {
    type: 'chat',
    price: { input: '0.25', output: '1', tiers: [{ above: 200000, input: '0.5' }] },
  };
  const made = await send('POST', '/models', {
    id: 'house-chat',
    ...members,
    context_window: 8000,
  });
  expect([made.status, made.body]).toEqual([
    201,
    expect.objectContaining({
      id: 'house-chat',
      price: { input: '0.25', output: '1', tiers: [{ above: 200000, input: '0.5' }] },
      context_window: 8000,
      owner: 'console',
      editable: true,
      enabled: true,
    }),
  ]);
  await expect.poll(() => gateway.app.catalogue.snapshot().models.has('house-chat')).toBe(true);
  const changed = await patch('/models/house-chat', made.etag, {
    price: { input: '0.2', output: '1' },
    enabled: false,
  });
  expect([changed.status, changed.body['price'], changed.body['enabled']]).toEqual([
    200,
    { input: '0.2', output: '1' },
    false,
  ]);
  await expect
    .poll(async () => ((await get('/models/house-chat')).body['history'] as unknown[]).length)
    .toBe(2);
  const shown = await get('/models/house-chat');
  expect([shown.etag, shown.body.settings]).toEqual([changed.etag, changed.body]);
  const names = (answer: Answer) => answer.body.data?.map(({ id }) => id);
  expect(names(await get('/models'))).not.toContain('house-chat');
  expect(names(await get('/models?all=true'))).toContain('house-chat');

  const stale = await patch('/models/house-chat', made.etag, { enabled: true });
  expect([stale.status, stale.body.error?.code, stale.body.error?.object]).toEqual([
    412,
    'stale',
    changed.body,
  ]);
});

test('a bundled model is overridden from revision 0, and null brings back what is bundled', async () => {
  const bundled = await get('/models/demo-chat');
  expect([
    bundled.etag,
    bundled.body.settings?.['owner'],
    bundled.body.settings?.['price'],
  ]).toEqual(['"0"', 'system', null]);
  const before = await costOf();
  const dear = await patch('/models/demo-chat', '"0"', {
    price: { input: '1000', output: '1000' },
  });
  expect([dear.status, dear.body['owner']]).toEqual([200, 'console']);
  const version = () => gateway.app.catalogue.snapshot().models.get('demo-chat')?.priceVersion;
  await expect.poll(version).not.toBe(bundled.body['price_version']);
  expect(await costOf()).not.toEqual(before);
  expect((await patch('/models/demo-chat', '"0"', {})).status).toBe(412);
  const back = await patch('/models/demo-chat', dear.etag, { price: null });
  expect([back.status, back.body['price']]).toEqual([200, null]);
  await expect.poll(version).toBe(bundled.body['price_version']);
  expect(await costOf()).toEqual(before);
});

test.each([
  [
    'a price of another type',
    { type: 'chat', price: { video_second: { '720P': '1' } } },
    ['price.video_second'],
  ],
  ['no type', {}, ['type']],
  ['two mistakes', { type: 'song', context_window: -1 }, ['type', 'context_window']],
  ['a price below zero', { type: 'chat', price: { input: '-1', output: '1' } }, ['price.input']],
  [
    'too many places',
    { type: 'chat', price: { input: '0.0000000001', output: '1' } },
    ['price.input'],
  ],
])('a model with %s is refused at its field', async (_what, members, paths) => {
  const answer = await send('POST', '/models', { id: 'wrong', ...members });
  expect(refusalOf(answer)).toEqual([400, 'invalid', expect.arrayContaining(paths)]);
});

test('what the file declares stays the file’s, and its place is named', async () => {
  const model = await get('/models/of-the-file');
  expect(model.body.settings).toMatchObject({
    owner: 'file',
    editable: false,
    declared_in: { path: 'models[0]' },
  });
  const refused = await patch('/models/of-the-file', model.etag, { enabled: false });
  expect([refusalOf(refused)[1], refused.body.error?.message]).toEqual([
    'owned_by_file',
    expect.stringMatching(/\.yaml:\d+, models\[0\]$/),
  ]);
  const alias = await get('/aliases/old');
  const away = await send('DELETE', '/aliases/old', {}, { 'if-match': alias.etag });
  expect(refusalOf(away)[1]).toBe('owned_by_file');
  const groups = (await get('/groups')).body.data ?? [];
  const filed = groups.find(({ name }) => name === 'filed');
  const places = [
    model.body.settings?.['declared_in'],
    alias.body['declared_in'],
    filed?.['declared_in'],
  ];
  const line = (places[0] as { line: number }).line;
  expect(places).toMatchObject([
    { path: 'models[0]' },
    { path: 'aliases.old', line: line + 1 },
    { path: 'groups[0]', line: line + 3 },
  ]);
  const dearer = await patch('/groups/filed', `"${String(filed?.['revision'])}"`, {
    price_multiplier: '3',
  });
  expect(refusalOf(dearer)[1]).toBe('owned_by_file');
});

test('an alias is made, led elsewhere, and taken away', async () => {
  const isNew = { 'if-none-match': '*' };
  const made = await send('PUT', '/aliases/fast', { model: 'demo-chat' }, isNew);
  expect([made.status, made.body]).toEqual([
    200,
    expect.objectContaining({ name: 'fast', model: 'demo-chat', owner: 'console' }),
  ]);
  const target = () => gateway.app.catalogue.snapshot().aliases.get('fast');
  await expect.poll(target).toBe('demo-chat');
  expect((await send('PUT', '/aliases/fast', { model: 'of-the-file' }, isNew)).status).toBe(412);
  const led = await send(
    'PUT',
    '/aliases/fast',
    { model: 'of-the-file' },
    { 'if-match': made.etag },
  );
  expect([led.status, led.body['model']]).toEqual([200, 'of-the-file']);
  expect((await send('DELETE', '/aliases/fast', {}, { 'if-match': made.etag })).status).toBe(412);
  expect((await send('DELETE', '/aliases/fast', {}, { 'if-match': led.etag })).status).toBe(200);
  await expect.poll(target).toBe(undefined);
  expect((await get('/aliases/fast')).status).toBe(404);
  expect((await send('PUT', '/aliases/fast', { model: 'demo-chat' }, isNew)).status).toBe(200);
});

test.each([
  ['a model that does not exist', 'lost', { model: 'no-such-model' }],
  ['another alias', 'further', { model: 'old' }],
  ['itself by the name of a model', 'of-the-file', { model: 'demo-chat' }],
  ['nothing', 'empty', { model: ' ' }],
])('an alias for %s is refused', async (_what, name, body) => {
  const answer = await send('PUT', `/aliases/${name}`, body, { 'if-none-match': '*' });
  expect(refusalOf(answer)).toEqual([400, 'invalid', ['model']]);
});

test('a group changes the price of the requests that follow', async () => {
  const made = await send('POST', '/groups', { name: 'research', price_multiplier: '1.5' });
  expect([made.status, made.body['price_multiplier']]).toEqual([201, '1.5']);
  const changed = await patch('/groups/research', made.etag, { price_multiplier: '2' });
  expect([changed.status, changed.body['price_multiplier']]).toEqual([200, '2']);
  await expect
    .poll(() => gateway.app.catalogue.snapshot().groups.get('research')?.priceMultiplier)
    .toBe('2');
  expect(refusalOf(await send('POST', '/groups', { name: 'research' }))[1]).toBe('name_taken');
  const wrong = await patch('/groups/research', changed.etag, { price_multiplier: '-1' });
  expect(refusalOf(wrong)).toEqual([400, 'invalid', ['price_multiplier']]);
});

test('a disabled group refuses its keys in their protocol at no charge, until it is enabled', async () => {
  const group = await send('POST', '/groups', { name: 'paused' });
  const [sim] = gateway.app.catalogue.snapshot().channels;
  const base_url = sim?.baseUrl;
  const of = { provider: 'simulator', base_url, models: ['demo-chat'], groups: ['paused'] };
  expect((await send('POST', '/channels', { name: 'for-paused', ...of })).status).toBe(201);
  const made = await send('POST', '/keys', { name: 'of-paused', group: 'paused' });
  const secret = String(made.body['key']);
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  const messages = [{ role: 'user', content: 'Hello!' }];
  const chat = { model: 'demo-chat', max_tokens: 9, messages };
  const gemini = { contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }] };
  const call = async (path: string, body?: object) => {
    const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${gateway.url}${path}`, { headers, ...sent });
    const { error } = (await response.json()) as { error?: { message: string; type?: string } };
    return [response.status, error?.type, error?.message];
  };
  const listed = async () =>
    (await get('/groups')).body.data?.find(({ name }) => name === 'paused');
  expect((await call('/v1/chat/completions', chat))[0]).toBe(200);
  expect(await listed()).toMatchObject({ enabled: true, keys: 1, people: 1, models: 3 });

  const disabled = await patch('/groups/paused', group.etag, { enabled: false });
  expect([disabled.status, disabled.body['enabled']]).toEqual([200, false]);
  const message = expect.stringContaining('the group of this API key is disabled');
  for (const [path, type, body] of [
    ['/v1/chat/completions', 'permission_error', chat],
    ['/v1/messages', 'permission_error', chat],
    ['/v1/messages/count_tokens', 'permission_error', chat],
    ['/v1beta/models/demo-chat:generateContent', undefined, gemini],
    ['/v1/models', 'permission_error', undefined],
    ['/v1/models/demo-chat', 'permission_error', undefined],
  ] as const) {
    expect([path, ...(await call(path, body))]).toEqual([path, 403, type, message]);
  }
  const rows = (await gateway.usage()).filter(({ key }) => key === 'of-paused');
  const refused = rows.filter(({ error }) => error === 'group_disabled');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.every(({ cost }) => cost === null)).toBe(true);
  expect(await listed()).toMatchObject({ enabled: false, keys: 1, people: 1, models: 0 });
  const explain = { key: 'of-paused', model: 'demo-chat', protocol: 'chat' };
  expect((await send('POST', '/routing/explain', explain)).body['refusal']).toMatchObject({
    code: 'group_disabled',
  });
  // The key stays as it is, and can be changed; no other one comes into the group.
  const id = String(made.body['id']);
  const slower = await patch(`/keys/${id}`, `"${String(made.body['revision'])}"`, { rpm: 9 });
  expect([slower.status, slower.body['group']]).toEqual([200, 'paused']);
  const another = await send('POST', '/keys', { name: 'another', group: 'paused' });
  expect(refusalOf(another)).toEqual([400, 'invalid', ['group']]);

  expect((await patch('/groups/paused', disabled.etag, { enabled: true })).status).toBe(200);
  expect((await call('/v1/chat/completions', chat))[0]).toBe(200);
  const usual = (await get('/groups')).body.data?.find(({ name }) => name === 'default');
  const never = await patch('/groups/default', `"${String(usual?.['revision'])}"`, {
    enabled: false,
  });
  expect(refusalOf(never)).toEqual([400, 'invalid', ['enabled']]);
});

test('a member sees neither settings nor what no channel serves', async () => {
  expect((await get('/models/demo-chat', member)).body.settings).toBe(null);
  expect((await get('/models/of-the-file', member)).status).toBe(404);
  expect((await get('/models?all=true', member)).status).toBe(403);
});

test('each change is on record, with the values before and after', async () => {
  const lines = await listAudit(gateway.app.database.kysely, { limit: 100 });
  const seen = lines.map(({ action, object }) => `${action} ${object.name}`);
  expect(seen).toEqual(
    expect.arrayContaining([
      'model.create house-chat',
      'model.update house-chat',
      'model.create demo-chat',
      'alias.create fast',
      'alias.update fast',
      'alias.disable fast',
      'group.create research',
      'group.update research',
    ]),
  );
});

interface Preview {
  readonly requests: number;
  readonly inexact: number;
  readonly cost: string;
  readonly would_be: string;
  readonly payers: readonly {
    readonly kind: string;
    readonly name: string;
    readonly requests: number;
  }[];
}

test('a preview says what a price would have made of the requests, and changes nothing', async () => {
  const model = 'demo-chat';
  await ask(gateway, secrets.admin);
  await ask(gateway, secrets.member);
  await gateway.usage();
  const { body: before } = await get(`/models/${model}`);
  const preview = async (price: object) => {
    const answer = await send('POST', '/prices/preview', { model, price });
    expect(answer.status).toBe(200);
    return answer.body as unknown as Preview;
  };
  const price = Object.fromEntries(
    (before['prices'] as readonly { part: string; price: string }[]).map((each) => [
      each.part,
      each.price,
    ]),
  );
  const rows = await gateway.usage();
  const charged = rows.filter((row) => row.model === model && row.cost !== null);
  const same = await preview(price);
  expect([same.requests, same.inexact]).toEqual([charged.length, 0]);
  expect(same.payers.map(({ name }) => name).toSorted()).toEqual([
    'admin@example.com',
    'member@example.com',
  ]);
  // Some of them were asked at another price.
  const free = await preview({ input: '0', output: '0' });
  expect([free.would_be, free.cost]).toEqual(['0', same.cost]);
  // What is not known as reported by the upstream keeps its cost.
  const { kysely } = gateway.app.database;
  const [estimated] = charged;
  const row = kysely.updateTable('usage').where('id', '=', estimated!.id);
  await row.set({ usage_source: 'estimated' }).execute();
  const partly = await preview({ input: '0', output: '0' });
  expect([partly.would_be, partly.inexact]).toEqual([estimated!.cost, 1]);
  await row.set({ usage_source: 'reported' }).execute();
  const tenfold = await preview(
    Object.fromEntries(
      Object.entries(price).map(([part, value]) => [part, String(Number(value) * 10)]),
    ),
  );
  expect(Number(tenfold.would_be)).toBeCloseTo(Number(same.would_be) * 10, 6);
  expect((await get(`/models/${model}`)).body['price_version']).toBe(before['price_version']);

  // What another factor of the group would have made, whatever the prices were.
  const factor = async (price_multiplier: string) => {
    const answer = await send('POST', '/groups/default/preview', { price_multiplier });
    return answer.body as unknown as Preview;
  };
  const once = await factor('1');
  expect([once.would_be, once.inexact]).toEqual([once.cost, 0]);
  const ofGroup = rows.filter((row) => row.key !== 'of-paused' && row.cost !== null);
  expect(once.requests).toBe(ofGroup.length);
  expect(Number((await factor('2.5')).would_be)).toBeCloseTo(Number(once.cost) * 2.5, 6);
  const much = await send('POST', '/groups/default/preview', { price_multiplier: 'much' });
  expect(refusalOf(much)).toEqual([400, 'invalid', ['price_multiplier']]);
  const gone = await send('POST', '/groups/gone/preview', { price_multiplier: '1' });
  expect(gone.status).toBe(404);

  const wrong = await send('POST', '/prices/preview', {
    model,
    price: { input: '-1', output: '1' },
  });
  expect(refusalOf(wrong)).toEqual([400, 'invalid', ['price.input']]);
  const none = await send('POST', '/prices/preview', { model, price: {} });
  expect(refusalOf(none)).toEqual([400, 'invalid', ['price']]);
  const lost = await send('POST', '/prices/preview', { model: 'no-such', price });
  expect(lost.status).toBe(404);
});
