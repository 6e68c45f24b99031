import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseConfig } from '#config/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { config, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* A key as an entry for the configuration file: `GET /keys/{id}?as=yaml`. */

const more = `
  - name: "1.0"
    user: member@example.com
    secret: sk-full-0123456789abcdefghijklmnopqrstu
    team: red
    group: dear
    models: [demo-chat]
    quota: 12.5
    expires_at: 2031-01-01T00:00:00Z
    ips: [192.0.2.0/24]
    rpm: 60
    rph: 600
    max_concurrency: 3
    conversion: strict
    cap_output: false
    enabled: false
teams:
  - { name: red, members: [{ user: member@example.com }] }
groups: [{ name: dear }]
`;
const file = config + more.slice(1);

interface Key {
  readonly id: string;
  readonly name: string;
  readonly declared_in: { readonly file: string; readonly path: string } | null;
}

let gateway: TestGateway;
let admin: Person;
let keys: readonly Key[];
beforeAll(async () => {
  gateway = await startWithPeople({ config: file });
  admin = await signInAs(gateway, 'admin');
  await admin.send('POST', '/keys', { name: 'mine: #1', quota: '3', rph: 7 });
  keys = ((await (await admin.get('/keys')).json()) as { data: readonly Key[] }).data;
});
afterAll(() => gateway.close());

const idOf = (name: string) => keys.find((key) => key.name === name)?.id ?? '';
const entryOf = async (name: string) => (await admin.get(`/keys/${idOf(name)}?as=yaml`)).text();
/** What the configuration's own parser makes of the keys in a file. */
const parsed = (text: string) =>
  parseConfig(text.replace('SIMULATOR', 'http://127.0.0.1:1'), {
    file: 'sluice.yaml',
    environment: {},
    bundledModels: ['demo-chat'],
  }).declared?.keys;
/** The file with this entry as its only key. */
const fileWith = (entry: string) => file.replace(/^keys:\n(?: .*\n)+/m, () => `keys:\n${entry}`);

test.each(['admins', '1.0'])(
  'the entry of %s says what the file says, without the secret',
  async (name) => {
    const declared = parsed(file)?.find((key) => key.name === name);
    expect(parsed(fileWith(await entryOf(name)))).toEqual([{ ...declared, secret: null }]);
  },
);

test('a key of the console gets the entry that would declare it', async () => {
  const response = await admin.get(`/keys/${idOf('mine: #1')}?as=yaml`);
  expect(response.headers.get('content-type')).toBe('application/yaml');
  const text = await response.text();
  expect(text).toBe(
    '- name: "mine: #1"\n  user: admin@example.com\n  group: default\n  quota: "3"\n  rph: 7\n',
  );
  expect(parsed(fileWith(text))).toMatchObject([{ name: 'mine: #1', quota: '3', rph: 7 }]);
});

test('a key tells where the file declares it', () => {
  expect(keys.map(({ name, declared_in: place }) => [name, place?.path])).toEqual([
    ['1.0', 'keys[2]'],
    ['admins', 'keys[0]'],
    ['members', 'keys[1]'],
    ['mine: #1', undefined],
  ]);
  expect(keys[0]?.declared_in?.file).toMatch(/\.yaml$/);
});

test('an entry is for whoever may see the key, and has no other form', async () => {
  const member = await signInAs(gateway, 'member');
  expect((await member.get(`/keys/${idOf('admins')}?as=yaml`)).status).toBe(404);
  expect(await (await member.get(`/keys/${idOf('members')}?as=yaml`)).text()).not.toContain(
    secrets.member,
  );
  expect((await admin.get(`/keys/${idOf('admins')}?as=toml`)).status).toBe(400);
});
