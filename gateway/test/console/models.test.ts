import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

const config = `
groups: [{ name: default }, { name: lab }, { name: vault }]
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    models: [demo-chat]
  - name: lab
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    groups: [lab]
    models: [lab-image]
  - name: vault
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    groups: [vault]
    models: [vault-chat]
  - name: off
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    enabled: false
    models: [off-chat]
models:
  - id: lab-image
    type: image
    price: { image_tiers: [{ name: 2K, max_pixels: 4194304, price: 0.045 }] }
  - { id: vault-chat, type: chat, price: { input: 1.5 } }
  - { id: off-chat, type: chat, price: { input: 1, output: 2 } }
aliases: { quick: demo-chat }
users:
  - { email: admin@example.com, role: admin, balance: 10 }
  - { email: member@example.com, balance: 10 }
  - { email: viewer@example.com, role: viewer }
keys:
  - { name: members, user: member@example.com, group: lab, secret: ${secrets.member} }
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
`;

interface Listed {
  readonly data: readonly { readonly id: string; readonly recent: unknown }[];
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithPeople({ config });
});
afterAll(() => gateway.close());

async function modelsOf(who: string): Promise<Listed['data']> {
  const person = await signInAs(gateway, who);
  const { data } = (await (await person.get('/models')).json()) as Listed;
  return data;
}

test('are those that an enabled channel serves, with prices in the unit in which they are published', async () => {
  const models = await modelsOf('admin');
  expect(models.map(({ id }) => id)).toEqual(['demo-chat', 'lab-image', 'vault-chat']);
  expect(models[0]).toMatchObject({
    type: 'chat',
    aliases: ['quick'],
    priced: true,
    prices: expect.arrayContaining([
      { part: 'input', price: expect.any(String), unit: 'million_tokens' },
    ]),
  });
  expect(models[1]).toEqual({
    origin: 'file',
    enabled: true,
    protocols: ['chat'],
    groups: ['lab'],
    recent: null,
    id: 'lab-image',
    type: 'image',
    aliases: [],
    display_name: 'lab-image',
    context_window: null,
    max_output_tokens: null,
    capabilities: [],
    priced: true,
    prices: [{ part: 'image_tiers.2K', price: '0.045', unit: 'picture' }],
  });
  expect(models[2]).toMatchObject({
    priced: false,
    prices: [{ part: 'input', price: '1.5', unit: 'million_tokens' }],
  });
});

test('are found by what their id or an alias contains', async () => {
  const admin = await signInAs(gateway, 'admin');
  const found = async (q: string) => {
    const { data } = (await (await admin.get(`/models?q=${q}`)).json()) as Listed;
    return data.map(({ id }) => id);
  };
  expect(await found('CHAT')).toEqual(['demo-chat', 'vault-chat']);
  expect(await found('quick')).toEqual(['demo-chat']);
  expect(await found('%25')).toEqual([]);
  expect((await admin.get(`/models?q=${'x'.repeat(65)}`)).status).toBe(400);
});

test('show how requests of the last day went, and counts only to whoever may see all of them', async () => {
  await ask(gateway, secrets.member, 'lab-image');
  await ask(gateway, secrets.admin, 'quick');
  await ask(gateway, secrets.admin);
  await gateway.usage();
  const recentFor = async (who: string) =>
    (await modelsOf(who)).find(({ id }) => id === 'demo-chat')?.recent;
  expect(await recentFor('admin')).toEqual({
    requests: 2,
    success: 1,
    hours: expect.arrayContaining([null, 1]),
    first_token_ms: null,
    tokens_per_second: null,
    duration_ms: expect.any(Number),
  });
  expect(await recentFor('member')).toMatchObject({ requests: null, success: 1 });
});

test('one has its prices over time, its groups, and channels for operators', async () => {
  const admin = await signInAs(gateway, 'admin');
  const read = async (person: Person, id: string) =>
    (await (await person.get(`/models/${encodeURIComponent(id)}`)).json()) as Record<
      string,
      unknown
    >;
  // By another name of it too.
  const model = await read(admin, 'quick');
  expect(model).toMatchObject({
    id: 'demo-chat',
    groups: ['default'],
    factors: [{ group: 'default', price_multiplier: '1' }],
    channels: [
      {
        name: 'sim',
        provider: 'simulator',
        protocols: ['chat'],
        upstream_model: 'demo-chat',
        groups: ['default'],
        priority: 0,
      },
    ],
  });
  expect(model['history']).toEqual([
    { version: model['price_version'], since: expect.any(String), prices: model['prices'] },
  ]);
  const member = await signInAs(gateway, 'member');
  expect(await read(member, 'demo-chat')).toMatchObject({ channels: null });
  // Nobody learns of what they may not use.
  for (const id of ['vault-chat', 'off-chat', 'nothing-like-it']) {
    expect([id, (await member.get(`/models/${id}`)).status]).toEqual([id, 404]);
  }
  expect((await admin.get('/models/vault-chat')).status).toBe(200);
});

test('are those of the default group and of the own keys for members, of all groups for others', async () => {
  expect((await modelsOf('member')).map(({ id }) => id)).toEqual(['demo-chat', 'lab-image']);
  expect(await modelsOf('viewer')).toHaveLength(3);
  expect((await fetch(`${gateway.url}/admin/v1/models`)).status).toBe(401);
});
