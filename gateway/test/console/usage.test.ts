import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';
import { sendRaw } from '../behaviour/support.ts';

interface List {
  readonly data: readonly { readonly id: string; readonly user: string }[];
  readonly next: string | null;
}

let gateway: TestGateway;
let admin: Person;
let member: Person;
let ids: { readonly admin: string; readonly member: string; readonly refused: string };

beforeAll(async () => {
  gateway = await startWithPeople();
  ids = {
    admin: await ask(gateway, secrets.admin),
    member: await ask(gateway, secrets.member),
    refused: await ask(gateway, secrets.member, 'nothing-like-it'),
  };
  await gateway.usage();
  admin = await signInAs(gateway, 'admin');
  member = await signInAs(gateway, 'member');
});
afterAll(() => gateway.close());

const list = async (person: Person, query = ''): Promise<List> =>
  (await person.get(`/usage${query}`)).json() as Promise<List>;
const idsIn = ({ data }: List) => data.map(({ id }) => id).toSorted();

describe('requests', () => {
  test('are those of everybody for whoever may read them, newest first', async () => {
    const { data, next } = await list(admin);
    expect(data.map(({ id }) => id)).toEqual([ids.refused, ids.member, ids.admin]);
    expect(next).toBeNull();
  });

  test('are their own for members, whatever they ask for', async () => {
    const own = [ids.member, ids.refused].toSorted();
    expect(idsIn(await list(member))).toEqual(own);
    expect(idsIn(await list(member, '?user=admin@example.com'))).toEqual([]);
    expect(idsIn(await list(member, '?key=admins'))).toEqual([]);
  });

  test('a viewer sees all of them too', async () => {
    const viewer = await signInAs(gateway, 'viewer');
    expect(idsIn(await list(viewer))).toEqual(idsIn(await list(admin)));
  });

  test('come in pages', async () => {
    const first = await list(admin, '?limit=2');
    const second = await list(admin, `?limit=2&cursor=${first.next}`);
    expect([...first.data, ...second.data].map(({ id }) => id)).toEqual([
      ids.refused,
      ids.member,
      ids.admin,
    ]);
    expect(second.next).toBeNull();
  });

  test.each([
    ['status=4xx', ['refused']],
    ['status=200', ['admin', 'member']],
    ['outcome=refused', ['refused']],
    ['key=members&outcome=completed', ['member']],
    ['model=demo-chat', ['admin', 'member']],
    ['min_cost=0.0000001', ['admin', 'member']],
    ['min_cost=1', []],
    ['protocol=messages', []],
    ['filter=status:>=400', ['refused']],
    ['filter=-status:4xx%20model:demo*&key=members', ['member']],
    ['min_ms=0', ['admin', 'member', 'refused']],
    ['from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z', []],
  ] as const)('with %s', async (query, names) => {
    expect(idsIn(await list(admin, `?${query}`))).toEqual(
      names.map((name) => ids[name]).toSorted(),
    );
  });

  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['status=9xx', 'status'],
    ['min_cost=-1', 'min_cost'],
    ['filter=price:1', 'filter'],
    ['from=yesterday', 'from'],
    ['colour=red', 'colour'],
    ['key=a&key=b', 'key'],
    ['cursor=x', 'cursor'],
    [`model=${'x'.repeat(10_000)}`, 'model'],
  ])('%s is refused by its name', async (query, path) => {
    const response = await admin.get(`/usage?${query}`);
    const { error } = (await response.json()) as {
      error: { code: string; fields: { path: string }[] };
    };
    expect([response.status, error.code, error.fields[0]?.path]).toEqual([400, 'invalid', path]);
  });
});

describe('one request', () => {
  test('has its receipt, which is the same as in the list of commands', async () => {
    const response = await admin.get(`/usage/${ids.admin}`);
    const row = (await gateway.usage()).find(({ id }) => id === ids.admin);
    const detail = await response.json();
    expect(detail).toMatchObject({
      ...row,
      group: 'default',
      multiplier: '1',
      payer: 'user',
      usage_source: 'reported',
      overshoot: '0',
      receipt: [
        { part: 'input', quantity: 2 },
        { part: 'output', quantity: expect.any(Number) },
      ],
      transaction: expect.any(String),
    });
    // What somebody sends is not shown.
    expect(JSON.stringify(detail)).not.toMatch(/user_agent|ProbeClient/);
  });

  test('of somebody else is the same as one that does not exist', async () => {
    const [other, unknown] = await Promise.all([
      member.get(`/usage/${ids.admin}`),
      member.get('/usage/req_000000000000000000000000'),
    ]);
    expect([other.status, unknown.status]).toEqual([404, 404]);
    const text = async (response: Response) =>
      (await response.text()).replace(/req_[\w-]+/, 'the id');
    expect(await text(other)).toBe(await text(unknown));
    expect((await member.get(`/usage/${ids.member}`)).status).toBe(200);
  });
});

describe('sums', () => {
  test('by the day are refused for a zone whose days begin within an hour', async () => {
    for (const tz of ['Asia/Kolkata', 'Asia/Kathmandu']) {
      const query = `tz=${tz}&from=2026-11-01T00:00:00Z&to=2026-11-03T00:00:00Z`;
      for (const by of ['day', 'model,month']) {
        const response = await admin.get(`/usage/sums?by=${by}&${query}`);
        expect([response.status, await response.json()]).toMatchObject([
          400,
          {
            error: {
              code: 'invalid',
              fields: [{ path: 'tz', message: expect.stringContaining(`days of ${tz} begin`) }],
            },
          },
        ]);
      }
      expect((await admin.get(`/usage/sums?by=hour&${query}`)).status).toBe(200);
    }
  });

  test('agree with the requests, and are narrowed as they are', async () => {
    const sums = async (person: Person) =>
      (await (await person.get('/usage/sums?by=key')).json()) as {
        readonly data: readonly { readonly name: string; readonly requests: number }[];
        readonly cost: string;
      };
    const all = await sums(admin);
    const own = await sums(member);
    expect(all.data.map(({ name }) => name).toSorted()).toEqual(['admins', 'members']);
    expect(own.data.map(({ name }) => name)).toEqual(['members']);
    const costs = (await gateway.usage()).map(({ cost }) => Number(cost ?? 0));
    expect(Number(all.cost)).toBeCloseTo(
      costs.reduce((sum, cost) => sum + cost, 0),
      9,
    );
  });

  test('by clients agree with the requests, of everybody and of a member', async () => {
    const sums = async (person: Person, query = '') =>
      ((await (await person.get(`/usage/sums?by=client${query}`)).json()) as { data: object[] })
        .data;
    expect(await sums(admin)).toMatchObject([{ name: 'other', requests: 3, refused: 1 }]);
    expect(await sums(member)).toMatchObject([{ name: 'other', requests: 2, refused: 1 }]);
    expect(await sums(admin, ',model&client=other&key=admins')).toMatchObject([
      { name: 'other', second: 'demo-chat', requests: 1 },
    ]);
    expect(await sums(admin, '&client=codex')).toEqual([]);
  });

  test('name the range that they cover, and the hours in which it begins and ends', async () => {
    const response = await admin.get(
      '/usage/sums?by=hour&from=2026-11-25T10:20:00Z&to=2026-11-25T11:10:00Z',
    );
    expect(await response.json()).toMatchObject({
      from: '2026-11-25T10:20:00.000Z',
      to: '2026-11-25T11:10:00.000Z',
      buckets: [{ name: '2026-11-25T10:00Z' }, { name: '2026-11-25T11:00Z' }],
      requests: 0,
      cost: '0',
    });
  });
});

test('S-04 the API has one spelling, so that a proxy can shut it off by its path', async () => {
  const { port } = new URL(gateway.url);
  const ask = async (path: string) => {
    const lines = `host: 127.0.0.1:${port}\r\ncookie: ${admin.cookie}\r\nconnection: close`;
    const client = await sendRaw(gateway.url, `GET ${path} HTTP/1.1\r\n${lines}\r\n\r\n`);
    await client.ended;
    return client.received().slice(0, 12);
  };
  expect(await ask('/admin/v1/session')).toBe('HTTP/1.1 200');
  for (const path of [
    '//admin/v1/session',
    '/admin//v1/session',
    '/%61dmin/v1/session',
    '/v1/admin/v1/session',
    '/v1/../admin/v1/session',
    '/ADMIN/v1/session',
  ]) {
    expect([path, await ask(path)]).toEqual([path, 'HTTP/1.1 404']);
  }
});

test('without a session nothing is read', async () => {
  for (const path of ['/usage', `/usage/${ids.admin}`, '/usage/sums?by=day', '/session']) {
    const response = await fetch(`${gateway.url}/admin/v1${path}`);
    expect([path, response.status]).toEqual([path, 401]);
  }
});
