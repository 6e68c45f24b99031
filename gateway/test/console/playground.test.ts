import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, secrets, setPassword, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

const config = `
groups: [{ name: default }, { name: vault }]
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    models: [demo-chat]
  - name: vault
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    groups: [vault]
    models: [demo-reasoning]
users:
  - { email: admin@example.com, role: admin, balance: 10 }
  - { email: member@example.com, balance: 10 }
  - { email: viewer@example.com, role: viewer }
teams:
  - { name: research, balance: 10, members: [{ user: member@example.com }] }
  - { name: others, balance: 10, members: [{ user: admin@example.com }] }
keys:
  - { name: members, user: member@example.com, secret: ${secrets.member} }
`;

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startWithPeople({ config });
});
afterAll(() => gateway.close());

const enter = (who: string) => signInAs(gateway, who);

async function keyOf(person: Person, body: object = {}): Promise<string> {
  const response = await person.send('POST', '/playground/key', body);
  expect(response.status).toBe(200);
  const { key, expires_at } = (await response.json()) as Record<string, string>;
  // It ends with the session, at the latest.
  expect(Date.parse(expires_at ?? '')).toBeLessThanOrEqual(Date.now() + 12 * 3_600_000);
  return key ?? '';
}

/** The status that the models' endpoints have for this key, as every node sees it. */
async function statusOf(key: string): Promise<number> {
  await gateway.app.refresh();
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  });
  await response.text();
  return response.status;
}

test('the key of a session is one for all its pages, and is charged to the person', async () => {
  const member = await enter('member');
  const key = await keyOf(member);
  expect(key).toMatch(/^sk-[0-9A-Za-z]{40}sluice[0-9A-Za-z]{6}$/);
  expect(await keyOf(member)).toBe(key);
  const other = await keyOf(await enter('member'));
  expect(other).not.toBe(key);

  const id = await ask(gateway, key);
  await ask(gateway, other);
  await gateway.usage();
  const row = (await (await member.get(`/usage/${id}`)).json()) as Record<string, unknown>;
  expect(row).toMatchObject({
    key: 'playground',
    user: 'member@example.com',
    payer: 'user',
    outcome: 'completed',
  });
  expect(Number(row['cost'])).toBeGreaterThan(0);
  const list = (await (await member.get('/usage?key=playground')).json()) as { data: unknown[] };
  expect(list.data).toHaveLength(2);
  const sums = (await (await member.get('/usage/sums?by=key')).json()) as { data: unknown[] };
  expect(sums.data).toEqual([expect.objectContaining({ name: 'playground', requests: 2 })]);
});

test('it is in no list, and nobody manages it', async () => {
  const admin = await enter('admin');
  await keyOf(admin);
  const { data } = (await (await admin.get('/keys')).json()) as { data: { name: string }[] };
  expect(data.map(({ name }) => name)).toEqual(['members']);
  const { attention } = (await (await admin.get('/overview')).json()) as { attention: unknown[] };
  expect(attention).toEqual([]);
  const rows = await gateway.app.database.kysely
    .selectFrom('keys')
    .select(['id', 'name'])
    .where('session_id', 'is not', null)
    .execute();
  expect(rows.length).toBeGreaterThan(0);
  for (const { id } of rows) {
    expect((await admin.send('POST', `/keys/${id}/rotate`, {})).status).toBe(404);
    expect((await admin.send('POST', `/keys/${id}/revoke`, {})).status).toBe(404);
  }
});

test('it ends when its session does, and with all sessions when the password changes', async () => {
  const first = await enter('member');
  const second = await enter('member');
  const keys = [await keyOf(first), await keyOf(second)];
  expect(await Promise.all(keys.map(statusOf))).toEqual([200, 200]);
  expect((await first.send('POST', '/auth/logout', {})).status).toBe(200);
  expect(await Promise.all(keys.map(statusOf))).toEqual([401, 200]);
  await setPassword(gateway, 'member@example.com');
  expect(await Promise.all(keys.map(statusOf))).toEqual([401, 401]);

  // What has ended is taken again, so that sign-ins do not leave keys behind.
  const count = async () => {
    const rows = await gateway.app.database.kysely.selectFrom('keys').select('id').execute();
    return rows.length;
  };
  const before = await count();
  const third = await enter('member');
  const next = await keyOf(third);
  expect(keys).not.toContain(next);
  expect(await statusOf(next)).toBe(200);
  expect(await count()).toBe(before);
});

test('is of a group and a team of the person only', async () => {
  const member = await enter('member');
  expect(await (await member.get('/session')).json()).toMatchObject({
    teams: [{ name: 'research', role: 'member' }],
  });
  const key = await keyOf(member, { team: 'research' });
  expect(key).not.toBe(await keyOf(member));
  const id = await ask(gateway, key);
  await gateway.usage();
  expect(await (await member.get(`/usage/${id}`)).json()).toMatchObject({
    team: 'research',
    payer: 'team',
  });
  for (const body of [{ group: 'vault' }, { group: 'nothing' }, { team: 'others' }, { team: '' }]) {
    const response = await member.send('POST', '/playground/key', body);
    const { error } = (await response.json()) as { error: { fields: { path: string }[] } };
    expect([response.status, error.fields[0]?.path]).toEqual([400, Object.keys(body)[0]]);
  }
  const admin = await enter('admin');
  const vault = await keyOf(admin, { group: 'vault' });
  const own = await fetch(`${gateway.url}/v1/models`, {
    headers: { authorization: `Bearer ${vault}` },
  });
  expect(await own.text()).toContain('demo-reasoning');
});

test('needs a session, and a page of it', async () => {
  const anonymous = await fetch(`${gateway.url}/admin/v1/playground/key`, { method: 'POST' });
  expect(anonymous.status).toBe(401);
  const viewer = await enter('viewer');
  const foreign = await viewer.send('POST', '/playground/key', {}, { 'x-sluice-csrf': 'wrong' });
  expect(foreign.status).toBe(403);
  expect(await statusOf(await keyOf(viewer))).toBe(200);
});
