import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listAudit } from '#administration/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import {
  ask,
  config,
  password,
  secrets,
  setPassword,
  signInAs,
  startWithPeople,
} from './people.ts';
import { logIn, type Person, signIn } from './person.ts';

/* People that administrators add, invite and change at the console. */

let gateway: TestGateway;
let admin: Person;
beforeAll(async () => {
  const teams = `
teams:
  - { name: red, members: [{ user: member@example.com, role: owner }] }
`;
  gateway = await startWithPeople({ config: config + teams.slice(1) });
  admin = await signInAs(gateway, 'admin');
});
afterAll(() => gateway.close());

interface User {
  readonly id: string;
  readonly email: string;
  readonly revision: number;
  readonly [member: string]: unknown;
}

interface Answer {
  readonly status: number;
  readonly user: User;
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly object?: User;
    readonly fields?: readonly { readonly path: string }[];
  };
}

async function read(sent: Promise<Response>): Promise<Answer> {
  const response = await sent;
  const body = (await response.json()) as User & Pick<Answer, 'error'>;
  return { status: response.status, user: body, error: body.error };
}

const create = (body: object, headers = {}, by = admin) =>
  read(by.send('POST', '/users', body, headers));
const made = async (email: string, members = {}) => {
  const { status, user } = await create({ email, ...members });
  expect(status).toBe(201);
  return user;
};
const change = ({ id, revision }: User, body: object) =>
  read(admin.send('PATCH', `/users/${id}`, body, { 'if-match': `"${revision}"` }));
const found = async (email: string) => (await read(admin.get(`/users/${email}`))).user;
const list = async (query: string) => {
  const response = await admin.get(`/users${query}`);
  return (await response.json()) as {
    readonly data: readonly User[];
    readonly next: string | null;
  };
};

async function invite({ id }: Pick<User, 'id'>) {
  const response = await admin.send('POST', `/users/${id}/invite`, {});
  const body = (await response.json()) as {
    link?: string;
    expires_at: string;
    error: { code: string };
  };
  return { status: response.status, ...body, token: body.link?.split('#')[1] ?? '' };
}

const accept = (token: string, text = 'a first good password') =>
  fetch(`${gateway.url}/admin/v1/auth/invite`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: gateway.url },
    body: JSON.stringify({ token, password: text }),
  });

/** Somebody who signs in ends the delay of this address. */
const forgetFailures = () => logIn(gateway.url, 'viewer@example.com', password);

test('a person is added once, shown with what they have, and changed', async () => {
  const members = {
    name: 'Ada',
    role: 'billing',
    balance: '12.5',
    quota: '20',
    groups: ['default'],
  };
  const headers = { 'idempotency-key': 'ada' };
  const { status, user } = await create({ email: 'Ada@Example.com', ...members }, headers);
  expect(status).toBe(201);
  expect(user).toMatchObject({
    ...members,
    email: 'ada@example.com',
    limit: { limit: '20', spent: '0', held: '0', window: null },
    teams: [],
    keys: 0,
    usage: { requests: 0, cost: '0' },
    last_seen_at: null,
    has_password: false,
    invited_until: null,
    sessions: 0,
    enabled: true,
    owner: 'console',
    editable: true,
  });
  expect((await create({ email: 'Ada@Example.com', ...members }, headers)).user).toEqual(user);
  expect((await create({ email: 'ADA@example.com' })).error.code).toBe('name_taken');
  const changed = await change(user, { role: 'viewer', name: null, quota: null });
  expect(changed.user).toMatchObject({ role: 'viewer', name: null, limit: null, balance: '12.5' });
  const stale = await change(user, { role: 'admin' });
  expect([stale.status, stale.error.code]).toEqual([412, 'stale']);
  expect(stale.error.object).toEqual(changed.user);

  const lines = await listAudit(gateway.app.database.kysely, { object: user.id, limit: 5 });
  expect(lines.map(({ action }) => action)).toEqual(['user.update', 'user.create']);
  expect(lines[1]?.changes).toContainEqual(
    expect.objectContaining({ field: 'balance', after: '12.5' }),
  );
});

test('the list has pages, is searched by name and address, and shows who used what', async () => {
  await made('page-1@example.com', { name: 'Percent % sign' });
  await made('page-2@example.com');
  const first = await list('?q=page-&limit=1');
  expect(first.data.map(({ email }) => email)).toEqual(['page-1@example.com']);
  const second = await list(`?q=page-&limit=1&cursor=${encodeURIComponent(first.next ?? '')}`);
  expect([second.data.map(({ email }) => email), second.next]).toEqual([
    ['page-2@example.com'],
    null,
  ]);
  expect((await list('?q=percent%20%25')).data).toHaveLength(1);
  expect((await list('?q=%25%25')).data).toEqual([]);

  await ask(gateway, secrets.member);
  await gateway.usage();
  const [member] = (await list('?q=member%40')).data;
  expect(member).toMatchObject({
    teams: [{ name: 'red', role: 'owner' }],
    keys: 1,
    usage: { requests: 1, cost: expect.stringMatching(/^0\.0/) },
    last_seen_at: expect.stringMatching(/^20/),
    editable: false,
    declared_in: { path: 'users[1]' },
  });
  const before = '?q=member%40&from=2020-01-01T00:00:00Z&to=2020-02-01T00:00:00Z';
  expect((await list(before)).data[0]).toMatchObject({ usage: { requests: 0, cost: '0' } });
});

test.each([
  [{ email: 'nothing' }, 'email'],
  [{ role: 'root' }, 'role'],
  [{ quota: '-1' }, 'quota'],
  [{ groups: ['nothing'] }, 'groups[0]'],
  [{ balance: 'much' }, 'balance'],
  [{ password: 'a long enough password' }, 'password'],
  [{ id: 'usr_1' }, 'id'],
])('a person with %j is refused', async (members, path) => {
  const { status, error } = await create({ email: 'wrong@example.com', ...members });
  expect([status, error.code, error.fields?.[0]?.path]).toEqual([400, 'invalid', path]);
});

test('a person of the file is changed in the file, and may be invited here', async () => {
  const { error, status } = await change(await found('viewer@example.com'), { name: 'V' });
  expect([status, error.code, error.message]).toEqual([
    409,
    'owned_by_file',
    expect.stringContaining('users[2]'),
  ]);
});

test('the last administrator who can sign in stays', async () => {
  const boss = await made('boss@example.com', { role: 'admin' });
  const { token } = await invite(boss);
  await accept(token);
  // Those of the file leave, one after the other, as an earlier release allowed.
  const { kysely } = gateway.app.database;
  const others = kysely.updateTable('users').where('email', 'like', 'admin%');
  await others.set({ role: 'viewer' }).execute();
  try {
    const person = await signIn(gateway.url, boss.email, 'a first good password');
    for (const [members, path] of [
      [{ role: 'member' }, 'role'],
      [{ enabled: false }, 'enabled'],
    ] as const) {
      const { revision } = await found2(person, boss.id);
      const sent = person.send('PATCH', `/users/${boss.id}`, members, {
        'if-match': `"${revision}"`,
      });
      const { status, error } = await read(sent);
      expect([status, error.code, error.fields?.[0]?.path]).toEqual([409, 'conflict', path]);
    }
    // One without a password does not count.
    await read(person.send('POST', '/users', { email: 'second@example.com', role: 'admin' }));
    const { revision } = await found2(person, boss.id);
    const headers = { 'if-match': `"${revision}"` };
    const sent = person.send('PATCH', `/users/${boss.id}`, { role: 'member' }, headers);
    expect((await read(sent)).status).toBe(409);
    await setPassword(gateway, 'second@example.com');
    const again = person.send('PATCH', `/users/${boss.id}`, { role: 'member' }, headers);
    expect((await read(again)).status).toBe(200);
    expect((await person.get('/session')).status).toBe(401);
  } finally {
    await others.set({ role: 'admin' }).execute();
    admin = await signInAs(gateway, 'admin');
  }
});

const found2 = async (person: Person, id: string) => (await read(person.get(`/users/${id}`))).user;

describe('an invitation', () => {
  test('lets the person set a first password, once, and signs in', async () => {
    const user = await made('grace@example.com');
    const { status, link, token, expires_at: until } = await invite(user);
    expect([status, link]).toEqual([201, `${gateway.url}/console/invite#${token}`]);
    // 256 bits.
    expect(token).toMatch(/^[\w-]{43}$/);
    const left = Date.parse(until) - Date.now();
    expect(left).toBeGreaterThan(47.9 * 3_600_000);
    expect(left).toBeLessThanOrEqual(48 * 3_600_000);
    expect(await found(user.email)).toMatchObject({ invited_until: until });
    const row = await gateway.app.database.kysely
      .selectFrom('users')
      .selectAll()
      .where('id', '=', user.id)
      .execute();
    expect(
      Object.values(row[0] ?? {})
        .map(String)
        .join(' '),
    ).not.toContain(token);

    const short = await accept(token, 'short');
    expect(short.status).toBe(400);
    const response = await accept(token);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ user: { email: user.email } });
    expect(response.headers.getSetCookie()[0]).toContain('sluice_session=');
    expect((await logIn(gateway.url, user.email, 'a first good password')).status).toBe(200);
    expect(await found(user.email)).toMatchObject({ has_password: true, invited_until: null });

    expect((await accept(token, 'another good password')).status).toBe(401);
    await forgetFailures();
    const lines = await listAudit(gateway.app.database.kysely, { object: user.id, limit: 5 });
    expect(lines.map(({ action, actor }) => [action, actor.name])).toEqual([
      ['user.update', user.email],
      ['user.invite', 'admin@example.com'],
      ['user.create', 'admin@example.com'],
    ]);
  });

  test.each([
    ['was followed by another one', async (user: User) => void (await invite(user))],
    ['is of a person who was disabled', (user: User) => change(user, { enabled: false })],
    [
      'is of a person who was disabled and is not any more',
      async (user: User) => {
        const { user: disabled } = await change(user, { enabled: false });
        await change(disabled, { enabled: true });
      },
    ],
    ['is of a person with a password', ({ email }: User) => setPassword(gateway, email)],
    [
      'is over',
      ({ id }: User) =>
        gateway.app.database.kysely
          .updateTable('users')
          .set({ invited_until: Date.now() - 1 })
          .where('id', '=', id)
          .execute(),
    ],
  ])('does not work that %s', async (what, end) => {
    const user = await made(`${what.replaceAll(' ', '-')}@example.com`);
    const { token } = await invite(user);
    await end(await found(user.email));
    await forgetFailures();
    const response = await accept(token);
    expect([response.status, response.headers.getSetCookie()]).toEqual([401, []]);
    const isFollowed = what.includes('another');
    const invited_until = isFollowed ? expect.any(String) : null;
    expect(await found(user.email)).toMatchObject({ invited_until });
  });

  test('of somebody with a password sets another one, and ends the sessions when it is used', async () => {
    const user = await made('forgetful@example.com');
    await setPassword(gateway, user.email);
    const person = await signIn(gateway.url, user.email, password);
    const { token } = await invite(user);
    // Until then, all is as before.
    expect((await person.get('/session')).status).toBe(200);
    expect((await logIn(gateway.url, user.email, password)).status).toBe(200);
    await forgetFailures();
    expect((await accept(token, 'another good password')).status).toBe(200);
    expect((await person.get('/session')).status).toBe(401);
    expect((await logIn(gateway.url, user.email, password)).status).toBe(401);
    expect((await logIn(gateway.url, user.email, 'another good password')).status).toBe(200);
    await forgetFailures();
    expect((await accept(token, 'a third good password')).status).toBe(401);
    await forgetFailures();
  });

  test('of somebody disabled is not made', async () => {
    const user = await made('away@example.com');
    await change(user, { enabled: false });
    expect(await invite(user)).toMatchObject({ status: 409 });
    expect(await invite({ id: 'nothing' })).toMatchObject({ status: 404 });
  });
});

test('a person is signed out everywhere', async () => {
  const person = await signInAs(gateway, 'member');
  const user = await found('member@example.com');
  expect(user).toMatchObject({ sessions: 1 });
  const response = await admin.send('POST', `/users/${user.id}/sign-out`, {});
  expect(await response.json()).toEqual({ ended: 1 });
  expect((await person.get('/session')).status).toBe(401);
  const again = await admin.send('POST', `/users/${user.id}/sign-out`, {});
  expect(await again.json()).toEqual({ ended: 0 });
  const { kysely } = gateway.app.database;
  const lines = await listAudit(kysely, { action: 'session.end', object: user.email, limit: 9 });
  expect(lines).toHaveLength(1);
});

test('guessing tokens is delayed from the fifth failure on', async () => {
  await forgetFailures();
  const codes: number[] = [];
  for (let at = 0; at < 12; at += 1) codes.push((await accept(`guess-${at}`)).status);
  expect(codes.slice(0, 5)).toEqual([401, 401, 401, 401, 401]);
  expect(codes.slice(5)).toEqual(Array.from({ length: 7 }, () => 429));
});
