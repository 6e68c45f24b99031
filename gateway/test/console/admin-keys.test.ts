import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { synthesis } from '../behaviour/video-requests.ts';
import { password, secrets, signInAs, startWithPeople } from './people.ts';
import { logIn, type Person } from './person.ts';

const day = 86_400_000;

interface AdminKey {
  readonly id: string;
  readonly name?: string;
  readonly key?: string;
  readonly [member: string]: unknown;
}

let gateway: TestGateway;
let admin: Person;
/** Everything that was logged, as text. */
const logged: string[] = [];
beforeAll(async () => {
  const keep = (...parts: readonly unknown[]) => void logged.push(JSON.stringify(parts));
  gateway = await startWithPeople({
    trustedProxies: ['127.0.0.1'],
    logger: { info: keep, warn: keep, error: keep, request: keep },
  });
  admin = await signInAs(gateway, 'admin');
}, 60_000);
afterAll(() => gateway.close());

let made = 0;
/** A new key of this role. */
async function make(role: string, more: object = {}) {
  made += 1;
  const response = await admin.send('POST', '/admin-keys', { name: `key-${made}`, role, ...more });
  expect(response.status).toBe(201);
  const { key, ...shown } = (await response.json()) as AdminKey;
  return { secret: key ?? '', shown, id: shown.id };
}

/** A call of a program. @param from the address that its proxy names */
async function call(
  secret: string,
  path: string,
  { from = '192.0.2.1', method = 'GET', body, headers = {} }: CallOptions = {},
) {
  const response = await fetch(`${gateway.url}/admin/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${secret}`,
      'x-forwarded-for': from,
      'x-forwarded-proto': 'https',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const { error, ...rest } = (await response.json()) as {
    readonly error?: { readonly code: string; readonly message: string };
    readonly [member: string]: unknown;
  };
  return { status: response.status, code: error?.code, message: error?.message, body: rest };
}

interface CallOptions {
  readonly from?: string;
  readonly method?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

const listed = async (id: string) => {
  const { data } = (await (await admin.get('/admin-keys?limit=200')).json()) as {
    readonly data: readonly AdminKey[];
  };
  return data.find((key) => key.id === id);
};

const lastAudit = async (query: string) => {
  const { data } = (await (await admin.get(`/audit?limit=1&${query}`)).json()) as {
    readonly data: readonly { readonly actor: object; readonly object: object }[];
  };
  return data[0];
};

describe('making an admin key', () => {
  test('gives its secret once, and ends it after 90 days', async () => {
    const before = Date.now();
    const { secret, shown } = await make('viewer', { ips: ['192.0.2.0/24'] });
    expect(secret).toMatch(/^sa-[0-9A-Za-z]{40}sluice[0-9A-Za-z]{6}$/);
    expect(shown).toMatchObject({
      role: 'viewer',
      ips: ['192.0.2.0/24'],
      active: true,
      created_by: { email: 'admin@example.com', administrator: true },
      last_used_at: null,
      revoked_at: null,
    });
    const age = Date.parse(String(shown['expires_at'])) - before;
    expect(Math.round(age / day)).toBe(90);
    expect(await listed(shown.id)).toEqual(shown);
    expect(await lastAudit('action=admin_key.create')).toMatchObject({
      actor: { kind: 'person', name: 'admin@example.com' },
      object: { kind: 'admin_key', id: shown.id },
    });
  });

  test('makes one key for a call that is repeated, and shows its secret once', async () => {
    const headers = { 'idempotency-key': 'the-only-one' };
    const body = { name: 'repeated', role: 'viewer' };
    const first = (await (
      await admin.send('POST', '/admin-keys', body, headers)
    ).json()) as AdminKey;
    const second = await admin.send('POST', '/admin-keys', body, headers);
    const { key: _, ...withoutSecret } = first;
    expect(await second.json()).toEqual(withoutSecret);
    const other = await admin.send('POST', '/admin-keys', { ...body, role: 'admin' }, headers);
    expect(other.status).toBe(409);
  });

  test.each([
    ['a role that has nothing to administer', { role: 'member' }, 400, 'role'],
    ['no role', {}, 400, 'role'],
    [
      'a time that is over',
      { role: 'viewer', expires_at: '2020-01-01T00:00:00Z' },
      400,
      'expires_at',
    ],
    [
      'a time in ten years',
      { role: 'viewer', expires_at: '2099-01-01T00:00:00Z' },
      400,
      'expires_at',
    ],
    ['something else than an address', { role: 'viewer', ips: ['here'] }, 400, 'ips[0]'],
  ])('refuses %s', async (_name, body, status, path) => {
    const response = await admin.send('POST', '/admin-keys', { name: 'refused', ...body });
    const { error } = (await response.json()) as { error: { fields: { path: string }[] } };
    expect([response.status, error.fields[0]?.path]).toEqual([status, path]);
  });

  test('gives a name to one key at a time', async () => {
    const body = { name: 'taken', role: 'viewer' };
    const first = (await (await admin.send('POST', '/admin-keys', body)).json()) as AdminKey;
    expect((await admin.send('POST', '/admin-keys', body)).status).toBe(409);
    await admin.send('DELETE', `/admin-keys/${first.id}`, {});
    expect((await admin.send('POST', '/admin-keys', body)).status).toBe(201);
  });

  test('lists keys page by page', async () => {
    await make('viewer');
    const ids: string[] = [];
    let next: string | null = '';
    while (next !== null) {
      const cursor: string = next === '' ? '' : `&cursor=${next}`;
      const page = (await (await admin.get(`/admin-keys?limit=2${cursor}`)).json()) as {
        readonly data: readonly AdminKey[];
        readonly next: string | null;
      };
      ids.push(...page.data.map(({ id }) => id));
      ({ next } = page);
    }
    expect(ids.length).toBeGreaterThan(3);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a program with an admin key', () => {
  test('reads and writes with the role of the key, without a cookie, an origin or a token', async () => {
    const { secret, id, shown } = await make('admin');
    const { name } = shown;
    expect((await call(secret, '/users')).status).toBe(200);
    const team = { method: 'POST', body: { name: 'from a program' } };
    expect((await call(secret, '/teams', team)).status).toBe(201);
    expect(await lastAudit('action=team.create')).toMatchObject({
      actor: { kind: 'admin_key', name, user: null, address: '192.0.2.1' },
    });
    expect(await lastAudit(`actor=${id}`)).toMatchObject({ actor: { name } });
  });

  test('is seen in the list, to within a minute', async () => {
    const { secret, id } = await make('viewer');
    await call(secret, '/health', { from: '192.0.2.77' });
    await expect
      .poll(() => listed(id))
      .toMatchObject({
        last_used_at: expect.stringMatching(/Z$/),
        last_used_address: '192.0.2.77',
      });
    const before = await listed(id);
    await call(secret, '/health', { from: '192.0.2.78' });
    expect(await listed(id)).toEqual(before);
  });

  test('repeats a call without doing it twice', async () => {
    const { secret } = await make('billing');
    const options = {
      method: 'POST',
      body: { amount: '5', reason: 'once' },
      headers: { 'idempotency-key': 'a-credit' },
    };
    const path = '/accounts/user/member@example.com/credits';
    const first = await call(secret, path, options);
    const second = await call(secret, path, options);
    expect([first.body['repeated'], second.body['repeated']]).toEqual([false, true]);
    expect(second.body['balance']).toBe(first.body['balance']);
  });

  test('names whose key it makes', async () => {
    const { secret } = await make('admin');
    const without = await call(secret, '/keys', { method: 'POST', body: { name: 'whose' } });
    expect([without.status, without.message]).toEqual([400, expect.stringMatching(/^user: /)]);
    const body = { name: 'whose', user: 'member@example.com' };
    expect((await call(secret, '/keys', { method: 'POST', body })).status).toBe(201);
  });

  test.each([
    ['POST', '/users', { email: 'new@example.com', role: 'viewer' }],
    ['PATCH', '/users/member@example.com', { role: 'admin' }],
    ['PATCH', '/users/admin@example.com', { name: 'Somebody else' }],
    ['POST', '/users/admin@example.com/invite', {}],
    ['POST', '/users/admin@example.com/sign-out', {}],
  ])('does not become an account with a role: %s %s %j', async (method, path, body) => {
    const { secret } = await make('admin');
    const headers = { 'if-match': '"1"' };
    const response = await call(secret, path, { method, body, headers });
    expect([response.status, response.message]).toEqual([
      403,
      expect.stringContaining('members only'),
    ]);
  });

  test('works on when its maker may not make it any more, and the list says that', async () => {
    const { secret, id } = await make('viewer');
    const { kysely } = gateway.app.database;
    const setRole = (role: string) =>
      kysely.updateTable('users').set({ role }).where('email', '=', 'admin@example.com').execute();
    await setRole('member');
    const whileMember = await call(secret, '/health');
    await kysely
      .updateTable('admin_keys')
      .set({ created_by: 'nobody' })
      .where('id', '=', id)
      .execute();
    const whileErased = await call(secret, '/health');
    await setRole('admin');
    expect([whileMember.status, whileErased.status]).toEqual([200, 200]);
    expect(await listed(id)).toMatchObject({ created_by: null });
  });

  test('loses a stream of events within a second of the end of its key', async () => {
    const { secret, id } = await make('viewer');
    const response = await fetch(`${gateway.url}/admin/v1/usage/live`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(response.status).toBe(200);
    await admin.send('DELETE', `/admin-keys/${id}`, {});
    const begin = Date.now();
    await response.text();
    expect(Date.now() - begin).toBeLessThan(3_000);
  });
});

describe('what opens nothing', () => {
  const opensNothing =
    'this admin key opens nothing: it is unknown, revoked or expired, or not for this address';
  const unknown = 'sa-0123456789012345678901234567890123456789sluice4Ymc9v';

  test('is refused in one text', async () => {
    const revoked = await make('admin');
    await admin.send('DELETE', `/admin-keys/${revoked.id}`, {});
    const expired = await make('admin');
    await gateway.app.database.kysely
      .updateTable('admin_keys')
      .set({ expires_at: Date.now() })
      .where('id', '=', expired.id)
      .execute();
    const elsewhere = await make('admin', { ips: ['198.51.100.0/24'] });
    const cases = [unknown, 'sa-mistyped', revoked.secret, expired.secret, elsewhere.secret];
    for (const [at, secret] of cases.entries()) {
      const response = await call(secret, '/users', { from: `192.0.2.${10 + at}` });
      expect([at, response.status, response.code, response.message]).toEqual([
        at,
        401,
        'unauthenticated',
        opensNothing,
      ]);
    }
    expect((await call(elsewhere.secret, '/users', { from: '198.51.100.9' })).status).toBe(200);
    expect(await listed(expired.id)).toMatchObject({ active: false, revoked_at: null });
  });

  test('waits after five tries from an address, but a right key there and people do not', async () => {
    const { secret } = await make('viewer');
    const from = '203.0.113.5';
    expect((await call(secret, '/health', { from })).status).toBe(200);
    const statuses: number[] = [];
    for (let tries = 0; tries < 6; tries += 1) {
      statuses.push((await call(unknown, '/health', { from })).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await call(secret, '/health', { from })).status).toBe(200);
    const https = { 'x-forwarded-for': from, 'x-forwarded-proto': 'https' };
    const origin = gateway.url.replace('http:', 'https:');
    const person = await logIn(gateway.url, 'viewer@example.com', password, { ...https, origin });
    expect(person.status).toBe(200);
  });

  test('a session beside an admin key does not count', async () => {
    const cookie = { cookie: admin.cookie, 'x-sluice-csrf': admin.csrf, origin: gateway.url };
    // As the browser of the session: directly, from this machine.
    const direct = async (authorization: string, method = 'GET', path = '/session') => {
      const response = await fetch(`${gateway.url}/admin/v1${path}`, {
        method,
        headers: { ...cookie, authorization, 'content-type': 'application/json' },
        ...(method !== 'GET' && { body: JSON.stringify({ name: 'beside' }) }),
      });
      return response.status;
    };
    const { secret } = await make('viewer');
    expect(await direct(`Bearer ${unknown}`)).toBe(401);
    expect(await direct(`Bearer ${secret}`, 'POST', '/teams')).toBe(403);
    // What a proxy before the console checks is the proxy's.
    expect(await direct('Basic YWRhOnBhc3N3b3Jk')).toBe(200);
    expect(await direct('Bearer of-a-proxy')).toBe(200);
  });

  test('an admin key is not sent where others can read it', async () => {
    const { secret } = await make('viewer');
    const headers = { 'x-forwarded-proto': 'http' };
    const response = await call(secret, '/health', { headers });
    expect([response.status, response.message]).toEqual([
      403,
      expect.stringContaining('not encrypted'),
    ]);
  });

  test.each([secrets.admin, 'sk-unknown', ''])('a client key: %j', async (secret) => {
    const response = await call(secret, '/users');
    expect([response.status, response.message]).toEqual([401, 'you are not signed in']);
  });

  test.each([
    ['POST', '/v1/chat/completions'],
    ['POST', '/v1/responses'],
    ['POST', '/v1/messages'],
    ['POST', '/v1beta/models/demo-chat:generateContent'],
    ['POST', '/v1/images/generations'],
    ['POST', synthesis.submitPath],
    ['GET', '/v1/models'],
  ])('an admin key, at %s %s', async (method, path) => {
    const { secret } = await make('admin');
    const asked = async (key: string) => {
      const response = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(method === 'POST' && { body: '{"model":"demo-chat"}' }),
      });
      return [
        response.status,
        (await response.text()).replaceAll(/"(request_id|id)":"[^"]+"/g, ''),
      ];
    };
    const refused = await asked(secret);
    expect(refused[0]).toBe(401);
    expect(refused).toEqual(await asked('sk-unknown-0123456789abcdefghijklmnopqrstu'));
    expect(logged.join('\n')).not.toContain(secret.slice(3, 40));
  });
});
