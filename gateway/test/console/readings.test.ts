import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, config, secrets, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

const teamSecret = 'sk-team-0123456789abcdefghijklmnopqrstuv';
const withTeam = config
  .replace(
    'users:',
    `teams:
  - name: research
    balance: 100
    members:
      - { user: owner@example.com, role: owner }
      - { user: member@example.com, budget: 10 }
users:
  - { email: owner@example.com, balance: 100 }
  - { email: operator@example.com, role: operator }
  - { email: billing@example.com, role: billing }`,
  )
  .concat(
    `  - { name: =teams, user: member@example.com, team: research, secret: ${teamSecret} }\n`,
  );

const people = ['admin', 'operator', 'billing', 'viewer', 'owner', 'member'] as const;
let gateway: TestGateway;
const signedIn = new Map<(typeof people)[number], Person>();
let ids: Readonly<Record<'admin' | 'member' | 'team' | 'refused', string>>;

beforeAll(async () => {
  gateway = await startWithPeople({ config: withTeam });
  ids = {
    admin: await ask(gateway, secrets.admin),
    member: await ask(gateway, secrets.member),
    team: await ask(gateway, teamSecret),
    refused: await ask(gateway, secrets.admin, 'nothing-like-it'),
  };
  await gateway.usage();
  for (const who of people) {
    signedIn.set(who, await signInAs(gateway, who));
  }
}, 60_000);
afterAll(() => gateway.close());

const get = async (who: (typeof people)[number], path: string): Promise<Response> =>
  (signedIn.get(who) as Person).get(path);

async function read<Value>(who: (typeof people)[number], path: string): Promise<Value> {
  const response = await get(who, path);
  const text = await response.text();
  expect([path, response.status, text]).toEqual([path, 200, text]);
  return JSON.parse(text) as Value;
}

interface Counted {
  readonly requests: number;
  readonly failed: number;
  readonly refused: number;
  readonly cost: string;
}

/** What somebody sees: everything, what is theirs, or that of their team. */
const seen = {
  admin: ['admin', 'member', 'team', 'refused'],
  operator: ['admin', 'member', 'team', 'refused'],
  billing: ['admin', 'member', 'team', 'refused'],
  viewer: ['admin', 'member', 'team', 'refused'],
  owner: ['team'],
  member: ['member', 'team'],
} as const;

describe.each(people)('%s', (who) => {
  const own = () => seen[who].map((name) => ids[name]).toSorted();

  test('sees the same requests in every reading', async () => {
    const { data } = await read<{ data: { id: string; cost: string | null }[] }>(who, '/usage');
    expect(data.map(({ id }) => id).toSorted()).toEqual(own());
    const cost = data.reduce((sum, row) => sum + Math.round(Number(row.cost ?? 0) * 1e9), 0);
    for (const path of ['/usage/sums?by=model', '/usage/sums?by=key,day', '/usage/histogram']) {
      const sums = await read<Counted>(who, path);
      const refused = own().includes(ids.refused) ? 1 : 0;
      expect([path, sums.requests, sums.refused]).toEqual([path, own().length, refused]);
      expect(Math.round(Number(sums.cost) * 1e9)).toBe(cost);
    }
    const latency = await read<{ data: { requests: number }[] }>(who, '/usage/latency');
    const completed = own().filter((id) => id !== ids.refused).length;
    expect(latency.data[0]?.requests).toBe(completed);
    for (const by of ['key', 'user,day', 'team', 'client']) {
      const { data: parts } = await read<{ data: { name: string; requests: number }[] }>(
        who,
        `/usage/latency?by=${by}`,
      );
      expect(parts.reduce((sum, { requests }) => sum + requests, 0)).toBe(completed);
      expect(parts.map(({ name }) => name).join()).not.toMatch(/(?:usr|key|team)_/);
    }
    const facets = await read<Record<string, { value: string; count: number }[]>>(
      who,
      '/usage/facets',
    );
    expect(facets['outcome']?.reduce((sum, { count }) => sum + count, 0)).toBe(own().length);
    const users = { owner: ['member@example.com'], member: ['member@example.com'] };
    expect(facets['user']?.map(({ value }) => value).toSorted()).toEqual(
      who === 'owner' || who === 'member'
        ? users[who]
        : ['admin@example.com', 'member@example.com'],
    );
  });

  test('exports what they see, and nothing of the others', async () => {
    const csv = await (await get(who, '/usage/export?format=csv')).text();
    const lines = csv.trimEnd().split('\r\n').slice(1);
    expect(lines.map((line) => line.split(',')[0] ?? '').toSorted()).toEqual(own());
    const jsonl = await (await get(who, '/usage/export?format=jsonl')).text();
    const rows = jsonl
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string });
    expect(rows.map(({ id }) => id).toSorted()).toEqual(own());
    const { data } = await read<{ data: { id: string }[] }>(who, '/usage');
    expect(rows).toEqual(data);
  });

  test('opens one of these only', async () => {
    for (const id of Object.values(ids)) {
      const { status } = await get(who, `/usage/${id}`);
      expect([id, status]).toEqual([id, own().includes(id) ? 200 : 404]);
    }
  });

  test('finds nothing by the name of somebody else', async () => {
    if (own().includes(ids.admin)) return;
    for (const filter of ['user=admin@example.com', 'key=admins', 'key=adm*', 'user=admin*']) {
      const { data } = await read<{ data: unknown[] }>(who, `/usage?${filter}`);
      const { requests } = await read<Counted>(who, `/usage/histogram?${filter}`);
      const sums = await read<Counted>(who, `/usage/sums?by=user&${filter}`);
      const csv = await (await get(who, `/usage/export?format=csv&${filter}`)).text();
      expect([filter, data, requests, sums.requests]).toEqual([filter, [], 0, 0]);
      expect(csv.trimEnd().split('\r\n')).toHaveLength(1);
    }
  });
});

test.each([
  ['client=other', ['admin', 'member', 'team', 'refused']],
  ['client=oth*', ['admin', 'member', 'team', 'refused']],
  ['client=codex', []],
  ['operation=generate&protocol=chat', ['admin', 'member', 'team', 'refused']],
  ['operation=embed', []],
  ['model=demo-*', ['admin', 'member', 'team']],
  ['model=demo*&key=mem*', ['member']],
  ['model=demo', []],
  ['user=MEMBER@*', ['member', 'team']],
  ['team=res*', ['team']],
  ['team=*', ['team']],
  ['channel=s*', ['admin', 'member', 'team']],
  ['key=%3Dteams', ['team']],
  ['key=m%25', []],
  ['asked=no', ['refused']],
  ['asked=yes&model=demo-chat', ['admin', 'member', 'team']],
] as const)('%s leaves the same in the list and in the histogram', async (query, names) => {
  const { data } = await read<{ data: { id: string }[] }>('admin', `/usage?${query}`);
  expect(data.map(({ id }) => id).toSorted()).toEqual(names.map((name) => ids[name]).toSorted());
  const { requests } = await read<Counted>('admin', `/usage/histogram?${query}`);
  expect(requests).toBe(names.length);
});

test('cells that a spreadsheet would compute are text', async () => {
  const csv = await (await get('admin', '/usage/export?format=csv&team=research')).text();
  expect(csv).toContain(",'=teams,");
  const response = await get('admin', '/usage/export?format=csv');
  expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(response.headers.get('content-disposition')).toBe('attachment; filename="requests.csv"');
  expect(response.headers.get('cache-control')).toBe('no-store');
  await response.text();
});

test('a sum and the list that its link opens are the same', async () => {
  const sums = await read<{
    from: string;
    to: string;
    data: { name: string; requests: number; cost: string }[];
  }>('admin', '/usage/sums?by=model');
  for (const { name, requests, cost } of sums.data) {
    const filter = name === '' ? 'asked=no' : `asked=yes&model=${name}`;
    const range = `from=${sums.from}&to=${sums.to}`;
    const list = await read<Counted>('admin', `/usage/histogram?${filter}&${range}`);
    expect([name, list.requests, list.cost]).toEqual([name, requests, cost]);
  }
  expect(sums.data.map(({ name }) => name)).toEqual(['demo-chat', '']);
});

test('names beyond the first ones are summed together', async () => {
  const sums = await read<{ others: number[]; data: { name: string | null }[] } & Counted>(
    'admin',
    '/usage/sums?by=key,hour&first=1&metric=requests',
  );
  expect(sums.others).toEqual([2, 0]);
  const names = new Set(sums.data.map(({ name }) => name));
  expect(names.has(null)).toBe(true);
  expect(names.size).toBe(2);
});

test('days begin where somebody lives', async () => {
  const at = 'from=2026-11-24T20:00:00Z&to=2026-11-25T20:00:00Z&by=day';
  const named = async (tz: string) =>
    (
      await read<{ buckets: { name: string; from: string }[] }>(
        'admin',
        `/usage/sums?${at}&tz=${tz}`,
      )
    ).buckets;
  expect(await named('Asia/Tokyo')).toEqual([
    { name: '2026-11-25', from: '2026-11-24T20:00:00.000Z', to: '2026-11-25T15:00:00.000Z' },
    { name: '2026-11-26', from: '2026-11-25T15:00:00.000Z', to: '2026-11-25T20:00:00.000Z' },
  ]);
  expect((await named('UTC'))[1]?.from).toBe('2026-11-25T00:00:00.000Z');
});

test.each([
  ['/usage/sums', 'by'],
  ['/usage/sums?by=colour', 'by[0]'],
  ['/usage/sums?by=model,model', 'by'],
  ['/usage/sums?by=day,hour', 'by'],
  ['/usage/sums?by=day,model,key', 'by'],
  ['/usage/sums?by=model&metric=beauty', 'metric'],
  ['/usage/sums?by=day&tz=Mars/Olympus', 'tz'],
  ['/usage/sums?by=model&first=0', 'first'],
  ['/usage/sums?by=hour&from=2026-01-01T00:00:00Z&to=2026-12-01T00:00:00Z', 'from'],
  ['/usage/sums?by=day&from=2000-01-01T00:00:00Z&to=2026-12-01T00:00:00Z', 'from'],
  ['/usage/sums?by=model&status=4xx', 'status'],
  ['/usage/histogram?from=0001-01-01T00:00:00Z', 'from'],
  ['/usage/histogram?colour=red', 'colour'],
  ['/usage/histogram?key=a&key=b', 'key'],
  ['/usage/latency?by=nothing', 'by[0]'],
  ['/usage/latency?by=model,hour&from=2026-01-01T00:00:00Z&to=2026-02-02T00:00:00Z', 'from'],
  ['/usage/latency?by=day&tz=Asia/Kolkata', 'tz'],
  ['/usage/latency?first=0', 'first'],
  [`/usage/facets?q=${'x'.repeat(65)}`, 'q'],
  ['/usage/facets?limit=201', 'limit'],
  ['/usage/export', 'format'],
  ['/usage/export?format=xls', 'format'],
  ['/usage/export?format=csv&limit=3', 'limit'],
])('%s is refused by the name of %s', async (path, field) => {
  const response = await get('admin', path);
  const { error } = (await response.json()) as {
    error: { code: string; fields: { path: string }[] };
  };
  expect([path, response.status, error.code, error.fields[0]?.path]).toEqual([
    path,
    400,
    'invalid',
    field,
  ]);
});

test.each([
  '/usage/sums?by=model&from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
  '/usage/latency?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
  '/usage/facets?from=0001-01-01T00:00:00Z&to=9999-12-31T23:59:59Z',
])('%s is answered', async (path) => {
  expect((await get('admin', path)).status).toBe(200);
});

test('without a session none of them is read', async () => {
  for (const path of ['histogram', 'latency', 'facets', 'export?format=csv']) {
    const { status } = await fetch(`${gateway.url}/admin/v1/usage/${path}`);
    expect([path, status]).toEqual([path, 401]);
  }
});
