import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { createTestDatabase, isSkipped, type TestDatabase } from '../database/databases.ts';
import { openTcpProxy } from '../support/tcp-proxy.ts';
import { calls } from './calls.ts';
import { ask, password, secrets, signInAs, startWithPeople } from './people.ts';
import { logIn, type Person } from './person.ts';

describe.skipIf(isSkipped('postgres'))('the console on PostgreSQL', () => {
  let database: TestDatabase;
  let way: Awaited<ReturnType<typeof openTcpProxy>>;
  let gateway: TestGateway;
  let admin: Person;

  beforeAll(async () => {
    database = await createTestDatabase('postgres');
    const url = new URL(database.url);
    way = await openTcpProxy(url.hostname, Number(url.port === '' ? 5432 : url.port));
    url.hostname = '127.0.0.1';
    url.port = String(way.port);
    gateway = await startWithPeople({ databaseUrl: url.href });
    await ask(gateway, secrets.member);
    await gateway.usage();
    admin = await signInAs(gateway, 'admin');
  });
  afterAll(async () => {
    await gateway.close();
    way.close();
    await database.drop();
  });

  const errorOf = async (response: Response) => {
    const { error } = (await response.json()) as { error: { code: string } };
    return [response.status, error.code];
  };

  test('shows requests and their sums', async () => {
    for (const path of ['/usage?key=members', '/usage/sums?by=user&key=members']) {
      const { data } = (await (await admin.get(path)).json()) as { data: unknown[] };
      expect([path, data.length]).toEqual([path, 1]);
    }
  });

  test('finds keys by their name, in capitals or not, with signs of patterns as themselves', async () => {
    const found = async (q: string) => {
      const { data } = (await (await admin.get(`/keys?q=${q}`)).json()) as { data: object[] };
      return data;
    };
    expect(await found('MEMB')).toMatchObject([{ name: 'members' }]);
    for (const q of ['%25', '_', '%5C', 'memb%25']) expect([q, await found(q)]).toEqual([q, []]);
  });

  test('has a key for the session, whose rows are found by its name', async () => {
    const { key } = (await (await admin.send('POST', '/playground/key', {})).json()) as {
      key: string;
    };
    const id = await ask(gateway, key);
    await gateway.usage();
    const { data } = (await (await admin.get('/usage?key=playground')).json()) as {
      data: { id: string; key: string }[];
    };
    expect(data.map((row) => [row.id, row.key])).toEqual([[id, 'playground']]);
    for (const path of ['/models', '/models/demo-chat', '/health', '/channels', '/me/sessions']) {
      expect([path, (await admin.get(path)).status]).toEqual([path, 200]);
    }
    expect((await admin.send('PATCH', '/me', { theme: 'dark' })).status).toBe(200);
  });

  test.each([
    ['/usage?model=%00', 400, 'invalid'],
    ['/usage?user=a%00b', 400, 'invalid'],
    ['/usage/sums?by=day&key=%00', 400, 'invalid'],
    ['/usage/%00', 404, 'not_found'],
    ['/users/%00', 404, 'not_found'],
    ['/teams/%00', 404, 'not_found'],
    ['/users?cursor=%00', 400, 'invalid'],
    ['/usage?cursor=%00', 400, 'invalid'],
    ['/usage?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z&min_cost=999999999.999999999', 200],
  ])('%s has the status %s', async (path, status, code?: string) => {
    const response = await admin.get(path);
    const got = response.ok ? [response.status] : await errorOf(response);
    expect(got).toEqual(code === undefined ? [status] : [status, code]);
    expect(gateway.errors).toEqual([]);
  });

  test('refuses text that the database cannot hold, as an address too', async () => {
    const response = await logIn(gateway.url, 'a\0@example.com', password);
    expect(await errorOf(response)).toEqual([400, 'invalid']);
    expect(gateway.errors).toEqual([]);
  });

  test('says that the database is unreachable, and works again when it is back', async () => {
    way.cut();
    const signsIn = await logIn(gateway.url, 'viewer@example.com', password);
    expect(await errorOf(signsIn)).toEqual([503, 'database_away']);
    const answers = new Map<string, unknown>();
    for (const { name, method, address } of calls) {
      if (['/auth/login', '/auth/invite'].includes(address)) continue;
      // Without a provider in the file there is nothing to ask the database for.
      if (/^\/auth\/oidc\/(?:start|callback)/.test(address)) continue;
      const response =
        method === 'GET'
          ? await admin.get(address)
          : await admin.send(method, address, {}, { 'if-match': '"1"' });
      const body = (await response.json()) as { error?: { code: string } };
      answers.set(name, [response.status, body.error?.code, response.headers.get('retry-after')]);
    }
    const away = [503, 'database_away', '2'];
    expect(Object.fromEntries(answers)).toEqual(
      Object.fromEntries(
        [...answers.keys()].map((name) => [
          name,
          // How to sign in is no matter of the database.
          name.endsWith('/auth/methods') ? [200, undefined, null] : away,
        ]),
      ),
    );
    expect(gateway.errors).toEqual([]);
    way.restore();
    await expect
      .poll(async () => (await admin.get('/usage')).status, { timeout: 20_000 })
      .toBe(200);
  });
});
