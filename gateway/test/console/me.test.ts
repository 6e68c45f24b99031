import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '#test/support/gateway.ts';
import { password, setPassword } from './people.ts';
import { logIn, type Person, signIn } from './person.ts';
import { listAudit } from '#administration/index.ts';

const config = `
channels:
  - name: sim
    provider: simulator
    base_url: SIMULATOR
    protocols: [chat]
    models: [demo-chat]
users:
  - { email: ada@example.com }
  - { email: grace@example.com }
keys: []
`;

const next = 'another long enough password';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({ config });
});
afterAll(() => gateway.close());

interface Listed {
  readonly id: string;
  readonly current: boolean;
  readonly address: string;
  readonly user_agent: string;
}

async function enter(name: string, withPassword = password): Promise<Person> {
  return signIn(gateway.url, `${name}@example.com`, withPassword);
}

async function reset(name: string): Promise<void> {
  await setPassword(gateway, `${name}@example.com`);
}

const sessionsOf = async (person: Person): Promise<readonly Listed[]> =>
  ((await (await person.get('/me/sessions')).json()) as { data: Listed[] }).data;

const isIn = async (person: Person) => (await person.get('/session')).status;

test('people see where they are signed in, and sign out elsewhere', async () => {
  await reset('ada');
  await reset('grace');
  const [here, there, other] = [await enter('ada'), await enter('ada'), await enter('grace')];
  const sessions = await sessionsOf(here);
  expect(sessions).toHaveLength(2);
  expect(sessions.filter(({ current }) => current)).toHaveLength(1);
  expect(sessions[0]).toMatchObject({ address: '127.0.0.1', user_agent: 'node' });
  const foreign = (await sessionsOf(other))[0]?.id ?? '';
  expect((await here.send('DELETE', `/me/sessions/${foreign}`, {})).status).toBe(404);
  const elsewhere = sessions.find(({ current }) => !current)?.id ?? '';
  expect((await here.send('DELETE', `/me/sessions/${elsewhere}`, {})).status).toBe(200);
  expect([await isIn(here), await isIn(there), await isIn(other)]).toEqual([200, 401, 200]);
  expect((await here.send('DELETE', `/me/sessions/${elsewhere}`, {})).status).toBe(404);
});

test('S-32 another password needs the old one, renews this session and ends all others', async () => {
  await reset('ada');
  const [here, there] = [await enter('ada'), await enter('ada')];
  const change = (old_password: string, new_password: string) =>
    here.send('POST', '/me/password', { old_password, new_password });
  const problemOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { fields: { path: string }[] } };
    return [response.status, error.fields[0]?.path];
  };
  expect(await problemOf(await change('wrong', next))).toEqual([400, 'old_password']);
  expect(await problemOf(await change(password, 'eleven char'))).toEqual([400, 'new_password']);
  expect([await isIn(here), await isIn(there)]).toEqual([200, 200]);

  const response = await change(password, next);
  expect(response.status).toBe(200);
  const { csrf_token: csrf } = (await response.json()) as { csrf_token: string };
  expect(csrf).not.toBe(here.csrf);
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  expect([await isIn(here), await isIn(there)]).toEqual([401, 401]);
  const renewed = await fetch(`${gateway.url}/admin/v1/session`, { headers: { cookie } });
  expect(renewed.status).toBe(200);
  expect((await logIn(gateway.url, 'ada@example.com', password)).status).toBe(401);
  expect((await logIn(gateway.url, 'ada@example.com', next)).status).toBe(200);
});

test('guesses of the old password are delayed as those at the sign-in', async () => {
  await reset('grace');
  const person = await enter('grace');
  const statuses: number[] = [];
  // The delay doubles each time, so that it becomes longer than a guess takes on any machine.
  for (let at = 0; at < 14 && !statuses.includes(429); at += 1) {
    const body = { old_password: `wrong ${at}`, new_password: next };
    statuses.push((await person.send('POST', '/me/password', body)).status);
  }
  expect(statuses.slice(0, 5)).toEqual([400, 400, 400, 400, 400]);
  expect(statuses).toContain(429);
});

test('what a person has chosen is the same in every browser', async () => {
  await reset('ada');
  const [here, there] = [await enter('ada'), await enter('ada')];
  const response = await here.send('PATCH', '/me', { language: 'zh-CN', theme: 'dark' });
  expect(await response.json()).toMatchObject({
    preferences: { language: 'zh-CN', theme: 'dark' },
    welcome: false,
  });
  expect((await here.send('PATCH', '/me', { theme: 'light' })).status).toBe(200);
  expect(await (await there.get('/session')).json()).toMatchObject({
    preferences: { language: 'zh-CN', theme: 'light' },
  });
  expect((await here.send('PATCH', '/me', { theme: 'pink' })).status).toBe(400);
  expect((await here.send('PATCH', '/me', { role: 'admin' })).status).toBe(400);
});

test('lists under names and columns that are not wanted stay with the account', async () => {
  await reset('ada');
  const [here, there] = [await enter('ada'), await enter('ada')];
  const views = [
    { name: 'Failed', search: 'filter=outcome%3Afailed&range=7d' },
    { name: '昂贵', page: 'usage', search: 'filter=cost%3A1' },
  ];
  const hidden_columns = { requests: ['client'], keys: [] };
  expect((await here.send('PATCH', '/me', { views, hidden_columns })).status).toBe(200);
  expect((await here.send('PATCH', '/me', { theme: 'dark' })).status).toBe(200);
  expect(await (await there.get('/session')).json()).toMatchObject({
    preferences: { theme: 'dark', views, hidden_columns },
  });
  const [one] = views;
  for (const body of [
    { views: [one, one] },
    { views: [{ name: '', search: '' }] },
    { views: [{ name: ' a', search: '' }] },
    { views: [{ name: 'x'.repeat(65), search: '' }] },
    { views: [{ name: 'a', search: 'x'.repeat(1_001) }] },
    { views: [{ ...one, more: 1 }] },
    { views: [{ ...one, page: 'elsewhere' }] },
    { views: Array.from({ length: 21 }, (_, at) => ({ name: `v${at}`, search: '' })) },
    { hidden_columns: { people: [] } },
    { hidden_columns: { keys: Array.from({ length: 21 }, () => 'x') } },
  ]) {
    expect([body, (await here.send('PATCH', '/me', body)).status]).toEqual([body, 400]);
  }
  expect((await here.send('PATCH', '/me', { views: [] })).status).toBe(200);
  expect(await (await there.get('/session')).json()).toMatchObject({ preferences: { views: [] } });
});

test('people whom the file does not declare name themselves, which is recorded', async () => {
  const { kysely } = gateway.app.database;
  await reset('grace');
  const person = await enter('grace');
  const rename = (name: string | null) => person.send('PATCH', '/me', { name });
  expect(await (await person.get('/session')).json()).toMatchObject({ user: { editable: false } });
  const refused = await rename('Grace');
  expect([refused.status, await refused.json()]).toMatchObject([
    409,
    { error: { code: 'owned_by_file' } },
  ]);

  await kysely
    .updateTable('users')
    .set({ owner: 'console' })
    .where('email', '=', 'grace@example.com')
    .execute();
  const renamed = await rename('Grace Hopper');
  expect([renamed.status, await renamed.json()]).toMatchObject([
    200,
    { user: { name: 'Grace Hopper', editable: true } },
  ]);
  expect((await rename('Grace Hopper')).status).toBe(200);
  expect((await rename(null)).status).toBe(200);
  const lines = await listAudit(kysely, {
    limit: 10,
    action: 'user.update',
    actor: 'grace@example.com',
  });
  expect(lines.map(({ changes }) => changes)).toEqual([
    [{ field: 'name', before: 'Grace Hopper', after: null }],
    [{ field: 'name', before: null, after: 'Grace Hopper' }],
  ]);
  for (const name of [' Grace', 'x'.repeat(201), 'a\0b', 7]) {
    expect((await person.send('PATCH', '/me', { name })).status).toBe(400);
  }
});

test('whom the first start created is led through the first steps once', async () => {
  await gateway.app.database.kysely
    .updateTable('users')
    .set({ owner: 'system' })
    .where('email', '=', 'ada@example.com')
    .execute();
  const person = await enter('ada');
  const welcome = async () => (await (await person.get('/session')).json()) as object;
  expect(await welcome()).toMatchObject({ welcome: true });
  expect((await person.send('PATCH', '/me', { welcomed: true })).status).toBe(200);
  expect(await welcome()).toMatchObject({ welcome: false });
});
