import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '#test/support/gateway.ts';
import { ask, config, signInAs, startWithPeople } from './people.ts';
import type { Person } from './person.ts';

/* Teams that administrators make at the console, and whose owners say who belongs to them. */

const secret = 'sk-teams-0123456789abcdefghijklmnopqrst';
const more = `
  - { name: teams, user: member@example.com, team: filed, secret: ${secret} }
teams:
  - name: filed
    balance: 10
    budget: { monthly: 5, total: 8 }
    time_zone: Europe/Berlin
    members: [{ user: owner@example.com, role: owner }, { user: member@example.com, budget: 2 }]
`;

let gateway: TestGateway;
let admin: Person;
let owner: Person;
let member: Person;
beforeAll(async () => {
  gateway = await startWithPeople({
    config: config.replace('users:', 'users:\n  - { email: owner@example.com }') + more.slice(1),
  });
  admin = await signInAs(gateway, 'admin');
  owner = await signInAs(gateway, 'owner');
  member = await signInAs(gateway, 'member');
});
afterAll(() => gateway.close());

interface Team {
  readonly id: string;
  readonly name: string;
  readonly revision: number;
  readonly [member: string]: unknown;
}

interface Answer {
  readonly status: number;
  readonly team: Team;
  readonly error: {
    readonly code: string;
    readonly path?: string;
    readonly object?: Team;
    readonly fields?: readonly { readonly path: string }[];
  };
}

async function read(sent: Promise<Response>): Promise<Answer> {
  const response = await sent;
  const body = (await response.json()) as Team & Pick<Answer, 'error'>;
  return { status: response.status, team: body, error: body.error };
}

const create = (body: object) => read(admin.send('POST', '/teams', body));
const made = async (name: string, members: object = {}) => {
  const { status, team } = await create({ name, ...members });
  expect(status).toBe(201);
  return team;
};
const change = (team: Team, body: object, by = admin) =>
  read(by.send('PATCH', `/teams/${team.id}`, body, { 'if-match': `"${team.revision}"` }));
const put = (by: Person, team: string, user: string, body: object, headers = {}) =>
  read(by.send('PUT', `/teams/${team}/members/${user}`, body, headers));
const remove = (by: Person, team: string, user: string) =>
  read(by.send('DELETE', `/teams/${team}/members/${user}`, {}));
interface Members {
  readonly data: readonly { readonly user: string; readonly role: string }[];
  readonly next: string | null;
}
const membersOf = async (team: string, query = '', by = admin) =>
  (await (await by.get(`/teams/${team}/members${query}`)).json()) as Members;
const people = async (team: string) =>
  (await membersOf(team)).data.map(({ user, role }) => [user, role]);
const names = async (by: Person, query = '') => {
  const { data } = (await (await by.get(`/teams${query}`)).json()) as { data: readonly Team[] };
  return data.map(({ name }) => name);
};

test('a team is made, shown with its budgets and their windows, and changed', async () => {
  const team = await made('blue', {
    balance: '50',
    budget: { daily: '4', monthly: '90' },
    time_zone: 'Asia/Kathmandu',
    members: [{ user: 'owner@example.com', role: 'owner', budget: '30' }],
  });
  expect(team).toMatchObject({
    balance: '50',
    budget: { daily: '4', monthly: '90' },
    limits: [
      { name: 'daily', limit: '4', spent: '0', held: '0' },
      { name: 'monthly', limit: '90', spent: '0', held: '0' },
    ],
    owners: [{ user: 'owner@example.com' }],
    usage: { requests: 0, cost: '0' },
    editable: true,
  });
  const [daily] = team['limits'] as {
    readonly window: { readonly from: string; readonly to: string };
  }[];
  expect([daily?.window.from, daily?.window.to]).toEqual(
    Array.from({ length: 2 }, () => expect.stringMatching(/T18:15:00\.000Z$/)),
  );
  const changed = await change(team, { budget: { total: '7' }, rpm: 30, time_zone: 'UTC' });
  expect(changed.team).toMatchObject({
    budget: { total: '7' },
    limits: [{ name: 'total', window: null }],
    rpm: 30,
    member_count: 1,
  });
  expect((await membersOf('blue')).data).toMatchObject([
    { user: 'owner@example.com', role: 'owner', limit: { limit: '30', window: null } },
  ]);
  const late = await change(team, { rpm: 1 });
  expect([late.status, late.error.object]).toEqual([412, changed.team]);
  expect((await create({ name: 'blue' })).error.code).toBe('name_taken');
});

test.each([
  [{ budget: { weekly: '1' } }, 'budget.weekly'],
  [{ budget: { daily: 'much' } }, 'budget.daily'],
  [{ time_zone: 'Nowhere/At-all' }, 'time_zone'],
  [{ members: [{ user: 'nobody@example.com' }] }, 'members[0].user'],
  [{ members: [{ user: 'owner@example.com' }, { user: 'Owner@example.com' }] }, 'members[1].user'],
  [{ database_away: 'serve' }, 'database_away'],
  [{ groups: ['nothing'] }, 'groups[0]'],
])('a team with %j is refused', async (members, path) => {
  const { status, error } = await create({ name: 'wrong', ...members });
  expect([status, error.code, error.fields?.[0]?.path]).toEqual([400, 'invalid', path]);
});

test('what is spent and held shows on budgets, and who of the team spent it', async () => {
  await ask(gateway, secret);
  await gateway.usage();
  const { team } = await read(admin.get('/teams/filed'));
  const { cost } = team['usage'] as { readonly cost: string };
  expect(Number(cost)).toBeGreaterThan(0);
  expect(team).toMatchObject({
    usage: { requests: 1 },
    limits: [
      { name: 'monthly', spent: cost, held: '0' },
      { name: 'total', spent: cost, held: '0' },
    ],
    member_count: 2,
    declared_in: { path: 'teams[0]' },
  });
  expect(team).not.toHaveProperty('members');
  const [spender, other] = [
    {
      user: 'member@example.com',
      usage: { requests: 1, cost },
      limit: { limit: '2', spent: cost },
    },
    { user: 'owner@example.com', usage: { requests: 0 }, limit: null },
  ];
  expect(await membersOf('filed', '', owner)).toMatchObject({ data: [spender, other], next: null });
  const { data, next } = await membersOf('filed', '?limit=1');
  expect(data).toMatchObject([spender]);
  const rest = await membersOf('filed', `?cursor=${encodeURIComponent(next ?? '')}`);
  expect(rest).toMatchObject({ data: [other], next: null });
  expect(await membersOf('filed', '?q=OWNER')).toMatchObject({ data: [other], next: null });
  expect((await admin.get('/teams/filed/members?cursor=1')).status).toBe(400);
});

describe('the owner of a team', () => {
  test('sees the own teams, and nobody else sees any', async () => {
    await made('green', { members: [{ user: 'member@example.com' }] });
    expect(await names(owner)).toEqual(['blue', 'filed']);
    expect(await names(member)).toEqual([]);
    expect(await names(admin, '?q=GREE')).toEqual(['green']);
    expect((await owner.get('/teams/green')).status).toBe(404);
    expect((await member.get('/teams/green')).status).toBe(404);
    expect((await member.get('/teams/green/members')).status).toBe(404);
    expect((await put(owner, 'green', 'owner@example.com', {})).status).toBe(404);
  });

  test('says who belongs to it, and raises no budget of it', async () => {
    const team = await made('gold', { members: [{ user: 'owner@example.com', role: 'owner' }] });
    await put(owner, team.id, 'member@example.com', { budget: '1.50' });
    expect((await membersOf('gold', '', owner)).data).toMatchObject([
      { user: 'member@example.com', role: 'member', limit: { limit: '1.5' } },
      { user: 'owner@example.com', role: 'owner' },
    ]);
    const raised = await put(owner, 'gold', 'member@example.com', { role: 'owner' });
    expect((await membersOf('gold', '?limit=1')).data).toMatchObject([
      { role: 'owner', limit: null },
    ]);
    expect((await change(raised.team, { budget: { total: '1000' } }, owner)).status).toBe(403);
    expect((await owner.send('POST', '/teams', { name: 'mine' })).status).toBe(403);
    await remove(owner, 'gold', 'member@example.com');
    expect(await people('gold')).toEqual([['owner@example.com', 'owner']]);
    const again = await remove(owner, 'gold', 'member@example.com');
    expect([again.status, again.team.revision]).toEqual([200, again.team.revision]);
  });
});

test('who may see all teams changes none of them', async () => {
  const viewer = await signInAs(gateway, 'viewer');
  await made('seen', { members: [{ user: 'member@example.com' }] });
  expect(await people('seen')).toEqual([['member@example.com', 'member']]);
  expect((await membersOf('seen', '', viewer)).data).toHaveLength(1);
  expect((await put(viewer, 'seen', 'viewer@example.com', {})).status).toBe(403);
  expect((await remove(viewer, 'seen', 'member@example.com')).status).toBe(403);
});

test('members who have spent the same come page by page, by their addresses', async () => {
  const all = ['admin', 'member', 'owner', 'viewer'].map((name) => `${name}@example.com`);
  await made('equals', { members: all.toReversed().map((user) => ({ user })) });
  const seen: string[] = [];
  for (let next: string | null = ''; next !== null;) {
    const page: Members = await membersOf(
      'equals',
      `?limit=1&cursor=${encodeURIComponent(next)}`.replace(/&cursor=$/, ''),
    );
    seen.push(...page.data.map(({ user }) => user));
    ({ next } = page);
  }
  expect(seen).toEqual(all);
});

test.each([
  ['nobody@example.com', {}, 404, 'not_found'],
  ['member@example.com', { budget: '-1' }, 400, 'invalid'],
  ['member@example.com', { role: 'admin' }, 400, 'invalid'],
])('%s as a member with %j is refused', async (user, body, status, code) => {
  if ((await admin.get('/teams/grey')).status === 404) await made('grey');
  const refused = await put(admin, 'grey', user, body);
  expect([refused.status, refused.error.code]).toEqual([status, code]);
});

test('a disabled person does not become a member, and leaves as one', async () => {
  const team = await made('white', { members: [{ user: 'viewer@example.com' }] });
  const { kysely } = gateway.app.database;
  const viewer = kysely.updateTable('users').where('email', '=', 'viewer@example.com');
  await viewer.set({ enabled: 0 }).execute();
  try {
    expect((await put(admin, 'white', 'admin@example.com', {})).status).toBe(200);
    expect((await put(admin, 'blue', 'viewer@example.com', {})).error.code).toBe('conflict');
    await remove(admin, team.id, 'admin@example.com');
    // One who is a member already can get another part.
    expect((await put(admin, 'white', 'viewer@example.com', { budget: '3' })).status).toBe(200);
    expect(await people('white')).toEqual([['viewer@example.com', 'member']]);
    await remove(admin, team.id, 'viewer@example.com');
    expect(await people('white')).toEqual([]);
  } finally {
    await viewer.set({ enabled: 1 }).execute();
  }
});

test('a member is not changed over the head of somebody who came first', async () => {
  const { revision } = await made('pink');
  expect(
    (await put(admin, 'pink', 'member@example.com', {}, { 'if-match': `"${revision}"` })).status,
  ).toBe(200);
  const late = await put(
    admin,
    'pink',
    'member@example.com',
    { role: 'owner' },
    { 'if-match': `"${revision}"` },
  );
  expect([late.status, late.error.code]).toEqual([412, 'stale']);
});

describe('a disabled team', () => {
  let key: string;
  let team: Team;
  let enabledStatus: number;
  const call = (path: string, method = 'POST') =>
    fetch(`${gateway.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-dashscope-async': 'enable',
      },
      ...(method === 'POST' && {
        body: '{"model":"demo-chat","messages":[{"role":"user","content":"Hello!"}]}',
      }),
    });
  const balance = async () => (await read(admin.get(`/teams/${team.id}`))).team['balance'];
  beforeAll(async () => {
    const owners = [{ user: 'owner@example.com', role: 'owner' }];
    team = await made('brown', { balance: '5', members: owners });
    const sent = await admin.send('POST', '/keys', {
      name: 'browns',
      user: 'owner@example.com',
      team: 'brown',
    });
    ({ key } = (await sent.json()) as { readonly key: string });
    enabledStatus = (await call('/v1/models', 'GET')).status;
    team = (await change(team, { enabled: false })).team;
  });

  test.each([
    ['/v1/chat/completions', { error: { type: 'permission_error' } }],
    ['/v1/responses', { error: { type: 'permission_error' } }],
    ['/v1/messages', { type: 'error', error: { type: 'permission_error' } }],
    ['/v1/messages/count_tokens', { type: 'error', error: { type: 'permission_error' } }],
    ['/v1beta/models/demo-chat:generateContent', { error: { status: 'PERMISSION_DENIED' } }],
    ['/v1/embeddings', { error: { type: 'permission_error' } }],
    ['/v1/images/generations', { error: { type: 'permission_error' } }],
    ['/v1/services/aigc/video-generation/video-synthesis', { code: 'AccessDenied' }],
    ['/api/v3/contents/generations/tasks', { error: { code: 'PermissionDenied' } }],
  ])('is the reason that %s is refused, and nothing is charged', async (path, form) => {
    const response = await call(path);
    const text = await response.text();
    expect([response.status, JSON.parse(text)]).toEqual([403, expect.objectContaining({})]);
    expect(JSON.parse(text)).toMatchObject(form);
    expect(text).toContain('the team of this API key is disabled');
    expect(await balance()).toBe('5');
  });

  test('is shown as that, with the keys that it stops', () => {
    expect(enabledStatus).toBe(200);
    expect(team).toMatchObject({ enabled: false, keys: 1 });
  });

  test('is not enabled by its owner, who keeps the own things, and is by an administrator', async () => {
    expect((await change(team, { enabled: true }, owner)).status).toBe(403);
    expect((await call('/v1/models', 'GET')).status).toBe(403);
    expect(await names(admin, '?q=brown')).toEqual(['brown']);
    const { data } = (await (await admin.get('/audit?action=team.update&limit=1')).json()) as {
      readonly data: readonly { readonly changes: unknown }[];
    };
    expect(data[0]?.changes).toEqual([{ field: 'enabled', before: true, after: false }]);
    expect((await change(team, { enabled: true })).team).toMatchObject({ enabled: true });
    await expect.poll(async () => (await call('/v1/models', 'GET')).status).toBe(200);
  });
});

test('the list has how many belong to a team and who owns it, not everybody', async () => {
  const { data } = (await (await admin.get('/teams?q=filed')).json()) as { data: object[] };
  expect(data).toMatchObject([
    { member_count: 2, owners: [{ user: 'owner@example.com', name: null }] },
  ]);
  expect(data[0]).not.toHaveProperty('members');
});

test('a team of the file is changed there', async () => {
  for (const refused of [
    await put(owner, 'filed', 'admin@example.com', {}),
    await remove(admin, 'filed', 'member@example.com'),
    await change((await read(admin.get('/teams/filed'))).team, { rpm: 5 }),
  ]) {
    expect([refused.status, refused.error]).toEqual([
      409,
      expect.objectContaining({ code: 'owned_by_file', path: 'teams[0]' }),
    ]);
  }
});
