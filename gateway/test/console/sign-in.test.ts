import { permissions } from '#console-api/contract/permissions.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableUser, findUserByEmail, startSession, upsertUser } from '#identity/index.ts';
import type { TestGateway } from '#test/support/gateway.ts';
import { change } from '../database/databases.ts';
import { user } from '../database/samples.ts';
import { sendRaw } from '../behaviour/support.ts';
import {
  hashCheaply,
  password,
  secrets,
  setPassword,
  signInAs,
  startWithPeople,
} from './people.ts';
import { logIn, signIn } from './person.ts';

let gateway: TestGateway;
let url: string;
beforeAll(async () => {
  gateway = await startWithPeople();
  ({ url } = gateway);
});
afterAll(() => gateway.close());

const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return [response.status, error.code, error.message];
};

describe('signing in', () => {
  test('shows who it is and what this person may do', async () => {
    const response = await logIn(url, 'Admin@example.com', password);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual({
      user: expect.objectContaining({ email: 'admin@example.com', role: 'admin', name: null }),
      preferences: {},
      welcome: false,
      permissions: [...permissions],
      teams: [],
      playground: true,
      groups: ['default'],
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      insecure: false,
      gateway: { version: expect.stringMatching(/^\d/), url },
    });
  });

  test('S-07 the cookie is closed to scripts and to other sites, and holds no hash', async () => {
    const response = await logIn(url, 'admin@example.com', password);
    const [cookie] = response.headers.getSetCookie();
    expect(cookie).toMatch(
      /^sluice_session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/,
    );
    const secret = /=([\w-]+)/.exec(cookie ?? '')?.[1];
    const rows = await gateway.app.database.kysely.selectFrom('sessions').selectAll().execute();
    expect(JSON.stringify(rows)).not.toContain(secret);
  });

  test('gives one response for an unknown address, a wrong password and a person without one', async () => {
    const responses = [
      await logIn(url, 'nobody@example.com', password),
      await logIn(url, 'admin@example.com', 'wrong'),
    ];
    for (const response of responses) {
      expect(await errorOf(response)).toEqual([
        401,
        'wrong_credentials',
        'the e-mail address or the password is wrong',
      ]);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test.each([
    ['another origin', { origin: 'https://evil.example' }, 403, 'csrf'],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'invalid'],
  ])('refuses %s', async (_name, headers, status, code) => {
    const response = await logIn(url, 'admin@example.com', password, headers);
    expect((await errorOf(response)).slice(0, 2)).toEqual([status, code]);
  });

  test('refuses a request without an origin', async () => {
    const response = await fetch(`${url}/admin/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'admin@example.com', password }),
    });
    expect((await errorOf(response)).slice(0, 2)).toEqual([403, 'csrf']);
  });

  test('names all that is wrong with a body', async () => {
    const response = await fetch(`${url}/admin/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({ email: 5, more: true }),
    });
    const { error } = (await response.json()) as { error: { fields: { path: string }[] } };
    expect(error.fields.map(({ path }) => path).toSorted()).toEqual(['email', 'more', 'password']);
  });
});

test('names the body where something else than an object was sent', async () => {
  const response = await fetch(`${url}/admin/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: '5',
  });
  expect((await errorOf(response))[2]).toMatch(/^body: /);
});

describe('S-07 over plain http nobody signs in from elsewhere', () => {
  const through = async (headers: Record<string, string>) => {
    const { port } = new URL(url);
    const host = headers['host'] ?? `127.0.0.1:${port}`;
    const body = JSON.stringify({ email: 'admin@example.com', password });
    const lines = {
      origin: `http://${host}`,
      ...headers,
      host,
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    };
    const text = Object.entries(lines).map(([name, value]) => `${name}: ${value}\r\n`);
    const client = await sendRaw(
      `http://127.0.0.1:${port}`,
      `POST /admin/v1/auth/login HTTP/1.1\r\n${text.join('')}\r\n${body}`,
    );
    await client.ended;
    return client.received();
  };

  test.each([
    ['through a proxy on this machine', { 'x-forwarded-for': '192.0.2.1' }],
    ['through a proxy that names the protocol', { 'x-forwarded-proto': 'http' }],
    ['through a proxy that nobody has named', { 'x-forwarded-proto': 'https' }],
    ['from a page whose name was made to lead here', { host: 'rebound.evil.example' }],
  ])('%s', async (_name, headers) => {
    const response = await through(headers);
    expect(response).toMatch(/^HTTP\/1\.1 403 /);
    expect(response).toContain('"code":"forbidden"');
    expect(response).not.toContain('set-cookie');
  });

  test('but from this machine, by address and as localhost', async () => {
    const { port } = new URL(url);
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
      expect(await through({ host })).toMatch(/^HTTP\/1\.1 200 /);
    }
  });
});

describe('a session', () => {
  test('ends when its person signs out', async () => {
    const person = await signInAs({ url }, 'member');
    expect((await person.get('/session')).status).toBe(200);
    const response = await person.send('POST', '/auth/logout', {});
    expect(response.headers.getSetCookie()[0]).toContain('Max-Age=0');
    expect(await errorOf(await person.get('/session'))).toEqual([
      401,
      'unauthenticated',
      'you are not signed in',
    ]);
  });

  test('S-31 writes nothing without its own token', async () => {
    const person = await signInAs({ url }, 'member');
    for (const headers of [{ 'x-sluice-csrf': 'x' }, { origin: 'null' }]) {
      const response = await person.send('POST', '/auth/logout', {}, headers);
      expect((await errorOf(response)).slice(0, 2)).toEqual([403, 'csrf']);
    }
    expect((await person.get('/session')).status).toBe(200);
  });

  test.each([
    ['disabled', { enabled: 0 }, { enabled: 1 }],
    ['given another role', { role: 'admin' }, { role: 'member' }],
  ])('ends at once when its person is %s', async (_name, change, back) => {
    const { kysely } = gateway.app.database;
    const set = (values: object) =>
      kysely.updateTable('users').set(values).where('email', '=', 'member@example.com').execute();
    const person = await signInAs({ url }, 'member');
    await set(change);
    expect((await person.get('/session')).status).toBe(401);
    await set(back);
  });

  test.each([
    ['disabled', { enabled: false }],
    ['given another role', { role: 'viewer' }],
  ] as const)('stays ended when its person was %s, and is as before again', async (_n, other) => {
    const email = 'member@example.com';
    const { database } = gateway.app;
    const declared = { ...user, email, name: null, role: 'member', balance: '100' } as const;
    const person = await signIn(url, email, password);
    await change(database, (file) => upsertUser(file, { ...declared, name: 'Member' }));
    expect((await person.get('/session')).status).toBe(200);
    await change(database, (file) => upsertUser(file, { ...declared, ...other }));
    await change(database, (file) => upsertUser(file, declared));
    expect((await person.get('/session')).status).toBe(401);
  });

  test('stays ended when its person was missing in the file, and is back', async () => {
    const email = 'member@example.com';
    const { database } = gateway.app;
    const person = await signIn(url, email, password);
    await change(database, (file) => disableUser(file, email));
    await database.kysely.updateTable('users').set({ enabled: 1 }).execute();
    expect((await person.get('/session')).status).toBe(401);
  });

  test('S-32 ends when the password changes', async () => {
    const person = await signInAs({ url }, 'member');
    await setPassword(gateway, 'member@example.com', hashCheaply(password));
    expect((await person.get('/session')).status).toBe(401);
  });

  test('does not start for a password that was changed while it was checked', async () => {
    const { kysely } = gateway.app.database;
    const email = 'member@example.com';
    const before = await findUserByEmail(kysely, email);
    if (before === null) throw new Error('no such user');
    const start = (person: typeof before) =>
      startSession(kysely, { user: person, address: null, userAgent: null }, Date.now());
    await setPassword(gateway, email, hashCheaply(password));
    expect(await start(before)).toBeNull();
    const after = await findUserByEmail(kysely, email);
    expect(await start(after ?? before)).toEqual(expect.any(String));
  });

  test('opens no endpoint for models, and a key opens nothing of the console', async () => {
    const { cookie } = await signInAs({ url }, 'admin');
    const models = await fetch(`${url}/v1/models`, { headers: { cookie } });
    expect(models.status).toBe(401);
    const session = await fetch(`${url}/admin/v1/session`, {
      headers: { authorization: `Bearer ${secrets.admin}`, 'x-api-key': secrets.admin },
    });
    expect(session.status).toBe(401);
  });
});
