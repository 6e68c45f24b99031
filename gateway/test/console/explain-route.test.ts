import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

const config = `
groups:
  - { name: coding }
channels:
  - { name: main, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat], weight: 3 }
  - { name: spare, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat], priority: -1 }
  - { name: refused, provider: simulator, base_url: SIMULATOR, api_key: invalid-one, protocols: [chat], models: [{ name: demo-reasoning, upstream: other }] }
  - { name: coding-only, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat], groups: [coding] }
  - { name: off, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat], enabled: false }
models:
  - { id: unpriced, type: chat }
users:
  - { email: admin@example.com, role: admin, balance: 100 }
  - { email: member@example.com }
  - { email: viewer@example.com, role: viewer }
keys:
  - { name: admins, user: admin@example.com, secret: ${secrets.admin} }
  - { name: narrow, user: admin@example.com, models: [demo-reasoning] }
  - { name: coders, user: admin@example.com, group: coding }
`;

let gateway: TestGateway;
let viewer: Person;
beforeAll(async () => {
  gateway = await startWithPeople({ config });
  viewer = await signInAs(gateway, 'viewer');
});
afterAll(() => gateway.close());

interface Explained {
  readonly refusal: { readonly code: string } | null;
  readonly asked: readonly { readonly name: string; readonly passed_over: string | null }[];
  readonly last_resort: string | null;
  readonly others: readonly { readonly name: string; readonly reason: string }[];
}

async function explain(body: object): Promise<Explained> {
  const response = await viewer.send('POST', '/routing/explain', body);
  expect(response.status).toBe(200);
  return (await response.json()) as Explained;
}

test('who is asked in which order, and why nobody else', async () => {
  const explained = await explain({ model: 'demo-chat', protocol: 'messages' });
  expect(explained).toMatchObject({
    group: 'default',
    model: 'demo-chat',
    refusal: null,
    asked: [
      { name: 'main', protocol: 'chat', native: false, share: 1, passed_over: null },
      { name: 'spare', priority: -1, share: 0, passed_over: null },
    ],
    last_resort: null,
  });
  expect(explained.others.map(({ name, reason }) => [name, reason])).toEqual([
    ['coding-only', 'group'],
    ['off', 'disabled'],
    ['refused', 'model'],
  ]);
  expect(JSON.stringify(explained)).not.toMatch(/invalid-one|127\.0\.0\.1/);
});

test('a key brings its group and its models', async () => {
  const coders = await explain({ key: 'coders', model: 'demo-chat' });
  expect(coders.asked.map(({ name }) => name)).toEqual(['coding-only']);
  const narrow = await explain({ key: 'narrow', model: 'demo-chat' });
  expect(narrow.refusal?.code).toBe('model_not_allowed');
});

test('what a refusal of an upstream did is seen, with the wait', async () => {
  await ask(gateway, secrets.admin, 'demo-reasoning');
  const { asked, last_resort } = await explain({ model: 'demo-reasoning' });
  expect(asked).toEqual([
    expect.objectContaining({
      name: 'refused',
      upstream_model: 'other',
      passed_over: 'credential-refused',
      rest_ms: expect.any(Number),
      share: 0,
    }),
  ]);
  expect(last_resort).toBe(null);
});

test.each([
  ['nothing has the name', { model: 'nothing' }, 'model_not_available'],
  ['no price', { model: 'unpriced' }, 'model_unpriced'],
])('refused before a channel is asked: %s', async (_what, body, code) => {
  expect((await explain(body)).refusal?.code).toBe(code);
});

test.each([
  ['key', { key: 'nobodys', model: 'demo-chat' }],
  ['group', { group: 'nobodys', model: 'demo-chat' }],
  ['protocol', { protocol: 'http', model: 'demo-chat' }],
  ['model', {}],
])('a wrong %s is refused with its name', async (path, body) => {
  const response = await viewer.send('POST', '/routing/explain', body);
  const { error } = (await response.json()) as { error: { fields: { path: string }[] } };
  expect([response.status, error.fields[0]?.path]).toEqual([400, path]);
});
